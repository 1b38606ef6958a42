/**
 * `npm run three`: an API server and three replicas as processes of this machine. A table shows every second how many shards each replica has, and how many
 * objects it has greeted. Kill a replica, and its shards move. Ctrl-C ends all.
 */
import { ConfigMap, Endpoint, KubeClient, Lease, Namespace } from "effect-controller-manager"
import { HttpTransport, KubeConfig } from "effect-controller-manager/node"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("main.js", import.meta.url))
const quiet = ["--metrics-bind-address=0", "--health-probe-bind-address=0", "--zap-log-level=warn"]

/** A process that ends with the scope. */
const started = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [program, ...args], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, ...env }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGTERM"))
  )

const populate = Effect.gen(function* () {
  const client = yield* KubeClient
  for (let index = 0; index < 30; index++) {
    const namespace = `team-${index}`
    yield* client.create(Namespace, { metadata: { name: namespace } })
    yield* client.create(ConfigMap, { metadata: { namespace, name: "one", labels: { greet: "" } } })
  }
})

const counted = (names: ReadonlyArray<string>): string =>
  [...new Set(names)]
    .sort()
    .map((name) => `${name} ${names.filter((other) => other === name).length}`)
    .join(", ")

const table = Effect.gen(function* () {
  const client = yield* KubeClient
  const labelSelector = "effect-controller-manager/cluster-role=shard"
  const { items: locks } = yield* client.list(Lease, { namespace: "default", labelSelector })
  const { items: maps } = yield* client.list(ConfigMap, { labelSelector: "greet" })
  const shards = counted(locks.flatMap(({ spec }) => spec?.holderIdentity ?? []))
  const greetings = counted(maps.flatMap(({ data }) => data?.["greeting"]?.replace("hello from ", "") ?? []))
  yield* Console.log(`shards: ${shards || "none yet"} | greeted by: ${greetings || "none yet"}`)
})

const main = Effect.gen(function* () {
  const directory = mkdtempSync(join(tmpdir(), "sharding-"))
  const kubeconfig = join(directory, "kubeconfig")
  yield* started(["apiserver", "--directory", directory])
  yield* Effect.repeat(Effect.sleep("100 millis"), { until: () => existsSync(kubeconfig) })
  const client = KubeClient.layer.pipe(
    Layer.provide(HttpTransport.layer),
    Layer.provide(Layer.effect(Endpoint, KubeConfig.load({ mode: "kubeconfig", path: kubeconfig, env: {} })))
  )
  yield* Effect.provide(
    Effect.gen(function* () {
      yield* Effect.retry(populate, { schedule: Schedule.spaced("200 millis"), times: 50 })
      for (const replica of ["one", "two", "three"]) {
        const place = ["--kubeconfig", kubeconfig, "--leader-elect-resource-namespace=default"]
        const child = yield* started([...place, "--sharding", "--shards=30", ...quiet], { REPLICA: replica })
        yield* Console.log(`replica ${replica} is process ${child.pid}`)
      }
      yield* Effect.repeat(table, Schedule.spaced("1 second"))
    }),
    client
  )
}).pipe(Effect.scoped)

const fiber = Effect.runFork(main)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => fiber.interruptUnsafe())
