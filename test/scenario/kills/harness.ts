/**
 * The harness of the kills: an API server in a process of its own with simulated machines, replicas of the program with the loops that make a
 * cluster usable, and a log of everything that happened to their objects.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { generateKeyPairSync } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Job, Pod, Secret } from "../../../src/kube/resources.ts"
import * as envtest from "../../support/envtest.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"
import * as Kubeconfigs from "../kubeconfigs.ts"
import * as KubeConfig from "../../../src/platform/KubeConfig.ts"
import type { Entry } from "./log.ts"
import { type Knows, maxEndpoints } from "./truth.ts"

export interface Server {
  readonly kubeconfig: string
  readonly knows: Knows
  readonly keyFile: string
}

const machines = 4

export const embedded = Effect.gen(function* () {
  const running = yield* Process.start(["apiserver", `--nodes=${machines}`])
  const [, kubeconfig = ""] = yield* running.says(/^export KUBECONFIG=(\S+)$/m)
  const keyFile = join(yield* Process.folder, "sa.key")
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const pem = privateKey.export({ type: "pkcs8", format: "pem" })
  yield* Effect.promise(() => writeFile(keyFile, pem))
  return { kubeconfig, keyFile, knows: { uncounted: true, slices: true } } satisfies Server
})

export const real = Effect.fnUntraced(function* () {
  const server = yield* envtest.start()
  const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user: { token: server.token } })
  const nodes = yield* Process.start(["nodes", "--kubeconfig", kubeconfig, `--count=${machines}`])
  yield* nodes.says(/simulated nodes are ready/)
  return { kubeconfig, keyFile: server.tokenKey, knows: { uncounted: false, slices: false } } satisfies Server
})

const loops = [
  "serviceaccount-token",
  "serviceaccount",
  "root-ca-cert-publisher",
  "garbagecollector",
  "daemonset",
  "job",
  "ttl-after-finished",
  "endpoint",
  "endpointslice",
  "nodelifecycle",
  "taint-eviction"
]
/** The server does not serve the kind of this watch. */
const needsSlices = "endpointslice"

const times = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=400ms",
  // On a busy machine a leader may lose its lease; it must not end then.
  "--leader-elect-on-lost=rejoin"
]

/** How a killed process is replaced. */
export type How = "is started again" | "stood by"

export const make = Effect.fnUntraced(function* (server: Server, how: How) {
  const endpoint = yield* KubeConfig.load({ mode: "kubeconfig", path: server.kubeconfig, env: {} })
  const client = yield* Cluster.clientAt(endpoint)
  const entries: Array<Entry> = []
  const open = new Set<string>()
  let ended = false
  const record = (entry: Entry): void => {
    entries.push(entry)
    if (entry.kind !== "Job") return
    const { metadata, status } = entry.object
    if (status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed") === true)
      open.delete(metadata.name)
    else open.add(metadata.name)
  }
  const follow = <K extends Entry["kind"]>(kind: K, resource: typeof Job | typeof Pod | typeof Secret) =>
    client.watch(resource as typeof Pod, { timeoutSeconds: 3000 }).pipe(
      Stream.runForEach(({ object, type }) => Effect.sync(() => record({ kind, type, object } as Entry))),
      Effect.ensuring(Effect.sync(() => (ended = true))),
      Effect.forkScoped
    )
  yield* follow("Job", Job)
  yield* follow("Pod", Pod)
  yield* follow("Secret", Secret)
  const args = [
    "--kubeconfig",
    server.kubeconfig,
    `--controllers=${loops.filter((name) => server.knows.slices || name !== needsSlices).join(",")}`,
    `--service-account-private-key-file=${server.keyFile}`,
    `--max-endpoints-per-slice=${maxEndpoints}`,
    "--node-startup-grace-period=3s",
    "--node-monitor-period=1s",
    "--node-eviction-rate=10",
    ...(how === "stood by" ? ["--leader-elect", ...times] : ["--leader-elect=false"])
  ]
  const start = Process.start(args)
  const alive = new Set<Process.Running>()
  const add = Effect.map(start, (one) => alive.add(one))
  yield* Effect.forEach(Array.from({ length: how === "stood by" ? 2 : 1 }), () => add, { concurrency: "unbounded" })
  /** Kills the leading process during its work. */
  const kill = Effect.gen(function* () {
    const leader = yield* leading(alive, how)
    const before = entries.length
    const more = yield* Random.nextIntBetween(5, 60)
    yield* until(() => entries.length >= before + more)
    yield* leader.kill("SIGKILL")
    alive.delete(leader)
    yield* leader.exit
    yield* add
  })
  return { client, entries, kill, open: () => open.size, isWhole: () => !ended }
})

const leading = Effect.fnUntraced(function* (alive: ReadonlySet<Process.Running>, how: How) {
  const words = how === "stood by" ? /leading: \S+ holds lease/ : /Starting Controller/
  const found = () => [...alive].find((one) => words.test(one.said()))
  yield* until(() => found() !== undefined)
  return found() as Process.Running
})

const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    while (!holds()) yield* Effect.sleep(20)
  })
