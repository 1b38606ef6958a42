/**
 * Fleets of fifty Deployments of forty replicas, one after the other, made by one process with the loops of Deployments and ReplicaSets: the first finds it cold, the
 * others warm. The lower bound is a process that only POSTs as many pods over undici, cold and warm alike; a second one also sends the other requests, and reads the
 * events of the pods; a third one does both through the client and the cache of this library. With `KUBEBUILDER_ASSETS` the server is a real kube-apiserver, otherwise
 * the embedded one.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Deployment, Namespace, Pod, ReplicaSet } from "../src/kube/resources.ts"
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

/** Creates a fleet, and waits until it is complete. */
const create = (client: KubeClient["Service"], namespace: string) => {
  const fleet = Deployments.fleet(namespace, deployments, replicas)
  return Deployments.until(client, fleet, Deployments.isUpdated, Deployments.create(client, fleet))
}

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

/** One that exists, until the scope closes: it is emptied then, so that the next process does not begin with a list of these pods. */
const namespace = (client: KubeClient["Service"]) =>
  Effect.acquireRelease(
    Effect.suspend(() => client.create(Namespace, { metadata: { name: `fleet-${namespaces++}` } })).pipe(
      Effect.map(({ metadata }) => metadata.name)
    ),
    (name) =>
      Effect.orDie(
        Effect.forEach([Deployment, ReplicaSet, Pod], (kind) =>
          client.deleteCollection(kind, { namespace: name }, { gracePeriodSeconds: 0, propagationPolicy: "Background" })
        )
      )
  )

const ours = (where: Stand.Server, client: KubeClient["Service"]) => (build: Stand.Build) =>
  Effect.gen(function* () {
    const names = yield* Effect.replicateEffect(namespace(client), fleets)
    // It ends before the namespaces are emptied.
    const running = yield* Stand.controllers(where, ["deployment", "replicaset"], [], build)
    const costs: Array<number> = []
    for (const name of names) {
      const before = Stand.usageOf(running).cpuMillis
      yield* create(client, name)
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

/** Of each created pod: the events, and what is written about owners. Source: `test/counts`. */
const otherRequests = 0.85

/** `alike`: with as many further requests as the program sends, and with the watch of the pods. `cached`: both through the client and the cache of this library. */
const floor = (where: Stand.Server, client: KubeClient["Service"], kind: "alone" | "alike" | "cached") =>
  Effect.gen(function* () {
    const send = yield* bare(where)
    const costs: Array<number> = []
    const events = kind === "alone" ? 0 : otherRequests * pods
    const how = { watched: kind === "alike", cached: kind === "cached" }
    for (const name of yield* Effect.replicateEffect(namespace(client), fleets)) {
      const { cpuEach } = yield* send({ method: "POST", namespace: name, count: pods, events, ...how })
      costs.push((cpuEach * (pods + events)) / pods)
    }
    return measured(costs)
  }).pipe(Effect.scoped)

type Rows = Record<"now" | "before" | "floor", ReadonlyArray<Measured>>

/** `limit`: of the ratio; undefined for a figure that is compared with nothing. */
const figure = (name: string, state: keyof Measured, of: Rows, limit?: number): Figure => {
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
    name: `${name}, ${state}`,
    value,
    unit: "ms/pod",
    floor: bottom,
    ratio,
    before,
    bar: limit === undefined ? "none" : `≤ ${limit} ×`,
    ok: limit === undefined || ratio <= limit
  }
}

export const run = (): Promise<Array<Figure>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const where = yield* Stand.server
        const client = yield* Stand.client(where)
        const bottom: Array<Measured> = []
        const alike: Array<Measured> = []
        const cached: Array<Measured> = []
        const { before, now } = yield* Stand.alternately(rounds, (build) =>
          Effect.gen(function* () {
            const one = yield* ours(where, client)(build)
            bottom.push(yield* floor(where, client, "alone"))
            alike.push(yield* floor(where, client, "alike"))
            cached.push(yield* floor(where, client, "cached"))
            return one
          })
        )
        const name = `fleets of ${deployments} × ${replicas} on ${where.what}: processor`
        const goal = { now, before, floor: bottom }
        const same = { now, before, floor: alike }
        const library = { now, before, floor: cached }
        return [
          figure(name, "cold", goal, 1.6),
          figure(name, "warm", goal, 1.15),
          figure(`${name} over as many requests and events`, "cold", same),
          figure(`${name} over as many requests and events`, "warm", same),
          figure(`${name} over the same through client and cache`, "cold", library),
          figure(`${name} over the same through client and cache`, "warm", library)
        ]
      })
    )
  )
