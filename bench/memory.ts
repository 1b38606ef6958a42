/**
 * The memory of the whole program with every loop that needs no cloud, and with the flags of the image: three fleets of fifty Deployments of forty pods, of
 * which each is created, waited for and deleted before the next one. Read from the operating system: the peak, and what is resident when nothing has
 * changed for a minute. The lower bounds are a Node process that does nothing, and one that only creates the same pods with undici.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { Namespace } from "../src/kube/resources.ts"
import type { KubeClient } from "../src/layers/KubeClient.ts"
import { tableOf } from "../test/support/controllers.ts"
import type { Options } from "./barePods.ts"
import type { Figure } from "./figure.ts"
import * as Deployments from "./loops/deployments.ts"
import * as Stand from "./loops/stand.ts"
import { bundled } from "./server.ts"

const [fleets, deployments, replicas] = [3, 50, 40]
const pods = deployments * replicas
const namespace = "load"
const spec = { containers: [{ name: "main", image: "example.test/main:1" }] }
const fleet = Deployments.fleet(namespace, deployments, replicas)
const rest = "60 seconds"

/** With a key for the loop that creates tokens. */
const loops = tableOf({ "service-account-private-key-file": "sa.key" })
  .filter(
    ({ controller, embeddedOnly, group }) => group === "core" && controller.cloud !== true && embeddedOnly === undefined
  )
  .map(({ controller }) => controller.name)

/** One fleet after the other; milliseconds of CPU time of the process for each pod that it creates. */
const turns = (client: KubeClient["Service"], running: ChildProcess) =>
  Effect.forEach(Array.from({ length: fleets }), () =>
    Effect.gen(function* () {
      const before = Stand.usageOf(running)
      yield* Deployments.until(client, fleet, Deployments.isUpdated, Deployments.create(client, fleet))
      const complete = Stand.usageOf(running)
      yield* Deployments.pods(client, fleet, "DELETED", Deployments.remove(client, fleet))
      return (complete.cpuMillis - before.cpuMillis) / pods
    })
  )

/** Peak and resident memory of a process that does this, and a minute later. */
const floor = (start: () => Promise<ChildProcess>) =>
  Effect.acquireUseRelease(
    Effect.promise(start),
    (child) => Effect.as(Effect.sleep(rest), child).pipe(Effect.map(Stand.usageOf)),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const nothing = floor(async () => spawn(process.execPath, ["-e", "process.stdin.on('data', () => {})"]))

const bare = Effect.gen(function* () {
  const { ca, token, url } = yield* Stand.embedded
  const options: Options = { ca, token, url, path: "/api/v1/namespaces/default/pods", count: fleets * pods, spec }
  return yield* floor(async () => {
    // The flag that the program sets: without it Node 20 needs 35 MiB to optimize undici's parser.
    const child = fork(await bundled("barePods"), [JSON.stringify(options)], { execArgv: ["--liftoff-only"] })
    await once(child, "message")
    return child
  })
}).pipe(Effect.scoped)

const measure = (build: Stand.Build) =>
  Effect.gen(function* () {
    // A real server of an old version lacks kinds that loops wait for.
    const where = yield* Stand.embedded
    const client = yield* Stand.client(where)
    yield* client.create(Namespace, { metadata: { name: namespace } })
    const key = `--service-account-private-key-file=${yield* Stand.signingKey}`
    const running = yield* Stand.controllers(where, loops, [key], build.name === "now" ? Stand.asImage : build)
    const costs = yield* turns(client, running)
    yield* Effect.sleep(rest)
    return { ...Stand.usageOf(running), cold: costs[0] ?? 0, warm: costs.at(-1) ?? 0 }
  }).pipe(Effect.scoped)

const rounds = 1

const measured = Effect.gen(function* () {
  const [idle, posts] = yield* Effect.all([nothing, bare])
  const { before, now } = yield* Stand.alternately(rounds, measure)
  const line = (what: string, field: keyof (typeof now)[number], unit: string): Figure => ({
    name: `all ${loops.length} loops over ${fleets} fleets of ${deployments} × ${replicas}: ${what}, ${Stand.load()}`,
    value: Stand.median(now.map((one) => one[field])),
    unit,
    before: Stand.median(before.map((one) => one[field])),
    bar: "none",
    ok: true
  })
  const resident = (what: string, field: "peakMiB" | "residentMiB", bar: number): Figure => {
    const figure = line(what, field, "MiB RSS")
    const floor = posts[field]
    return {
      ...figure,
      name: `${figure.name} (Node alone: ${idle[field].toFixed(0)})`,
      floor,
      ratio: figure.value / floor,
      bar: `≤ ${bar} MiB`,
      ok: figure.value <= bar
    }
  }
  return [
    resident("peak memory", "peakMiB", 180),
    resident("memory a minute later", "residentMiB", 110),
    line("CPU time for each pod of the first", "cold", "ms/pod"),
    line("CPU time for each pod of the last", "warm", "ms/pod")
  ]
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
