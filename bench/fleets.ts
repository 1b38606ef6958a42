/**
 * Fleets of fifty Deployments of forty replicas, one after the other, made by one process with the loops of Deployments and ReplicaSets: the first finds it cold, the
 * others warm. The lower bound is a process that only POSTs as many pods over undici, cold and warm alike. With `KUBEBUILDER_ASSETS` the server is a real kube-apiserver,
 * otherwise the embedded one.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Namespace } from "../src/kube/resources.ts"
import type { KubeClient } from "../src/layers/KubeClient.ts"
import type { Figure } from "./figure.ts"
import type { Order } from "./floorProcess.ts"
import * as Deployments from "./loops/deployments.ts"
import * as Stand from "./loops/stand.ts"
import type { Cost } from "./plain.ts"
import { bundled } from "./server.ts"

const [deployments, replicas] = [50, 40]
const pods = deployments * replicas
/** The first of a process, and those after it. */
const fleets = 4
const rounds = Number(process.env["ROUNDS"] ?? 3)

/** Creates a fleet in a namespace of its own, and waits until it is complete. */
const create = (client: KubeClient["Service"], namespace: string) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: namespace } })
    const fleet = Deployments.fleet(namespace, deployments, replicas)
    yield* Deployments.until(client, fleet, Deployments.isUpdated, Deployments.create(client, fleet))
  })

/** Milliseconds of the processor for each pod, the first fleet and the median of the others. */
interface Measured {
  readonly cold: number
  readonly warm: number
}

const measured = ([cold = Number.NaN, ...others]: ReadonlyArray<number>): Measured => ({
  cold,
  warm: Stand.median(others)
})

let namespaces = 0
const nextNamespace = (): string => `fleet-${namespaces++}`

const ours = (where: Stand.Server, client: KubeClient["Service"]) => (build: Stand.Build) =>
  Effect.gen(function* () {
    const running = yield* Stand.controllers(where, ["deployment", "replicaset"], [], build)
    const costs: Array<number> = []
    for (let fleet = 0; fleet < fleets; fleet++) {
      const before = Stand.usageOf(running).cpuMillis
      yield* create(client, nextNamespace())
      // The last events are written after the last status.
      yield* Effect.sleep("500 millis")
      costs.push((Stand.usageOf(running).cpuMillis - before) / pods)
    }
    return measured(costs)
  }).pipe(Effect.scoped)

/** A process that does nothing but the requests of its orders. */
export const bare = (where: Stand.Server) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () =>
        spawn(process.execPath, [await bundled("floorProcess"), JSON.stringify(where)], {
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (running) => Effect.sync(() => running.kill("SIGKILL"))
    ),
    (running) => {
      const lines = createInterface({ input: running.stdout })
      return (order: Order) =>
        Effect.promise(async () => {
          running.stdin.write(`${JSON.stringify(order)}\n`)
          const [line] = (await once(lines, "line")) as [string]
          return JSON.parse(line) as Cost
        })
    }
  )

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    const send = yield* bare(where)
    const costs: Array<number> = []
    for (let fleet = 0; fleet < fleets; fleet++) {
      const namespace = nextNamespace()
      yield* client.create(Namespace, { metadata: { name: namespace } })
      costs.push((yield* send({ method: "POST", namespace, count: pods })).cpuEach)
    }
    return measured(costs)
  }).pipe(Effect.scoped)

const figure = (
  name: string,
  state: keyof Measured,
  limit: number,
  of: Record<"now" | "before" | "floor", ReadonlyArray<Measured>>
): Figure => {
  const {
    before,
    floor: bottom,
    now: value
  } = {
    now: Stand.median(of.now.map((one) => one[state])),
    before: Stand.median(of.before.map((one) => one[state])),
    floor: Stand.median(of.floor.map((one) => one[state]))
  }
  const ratio = value / bottom
  return {
    name: `${name}: processor, ${state}`,
    value,
    unit: "ms/pod",
    floor: bottom,
    ratio,
    before,
    bar: `≤ ${limit} ×`,
    ok: ratio <= limit
  }
}

export const run = (): Promise<Array<Figure>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const where = yield* Stand.server
        const client = yield* Stand.client(where)
        const bottom: Array<Measured> = []
        const { before, now } = yield* Stand.alternately(rounds, (build) =>
          Effect.gen(function* () {
            const one = yield* ours(where, client)(build)
            bottom.push(yield* floor(where, client))
            return one
          })
        )
        const name = `fleets of ${deployments} × ${replicas} on ${where.what}`
        const of = { now, before, floor: bottom }
        return [figure(name, "cold", 1.6, of), figure(name, "warm", 1.15, of)]
      })
    )
  )
