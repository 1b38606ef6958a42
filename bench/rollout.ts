/**
 * Twenty thousand pods of a hundred Deployments are created, replaced after a change of the image (25 % at a time) and deleted by a cascade, all by one process with
 * three loops. The benchmark makes the pods ready. The lower bound of the cascade is a process that only DELETEs as many pods over undici; two further ones show what
 * the rest costs: one also parses the events, and one deletes through the client and the cache of this library. The rollout is compared with creation and cascade,
 * which are the same pods made once and deleted once.
 */
import * as Effect from "effect/Effect"
import * as Patch from "../src/kube/Patch.ts"
import { Deployment, Namespace } from "../src/kube/resources.ts"
import type { KubeClient } from "../src/layers/KubeClient.ts"
import type { Figure } from "./figure.ts"
import { bare } from "./fleets.ts"
import * as Deployments from "./loops/deployments.ts"
import * as PodStatuses from "./loops/podStatuses.ts"
import * as Stand from "./loops/stand.ts"

const [deployments, replicas] = [Number(process.env["DEPLOYMENTS"] ?? 100), 200]
const pods = deployments * replicas
const fleet = Deployments.fleet("load", deployments, replicas)
const { namespace } = fleet

type Client = KubeClient["Service"]

const complete = (client: Client, work: Effect.Effect<void, unknown>) =>
  Deployments.until(client, fleet, Deployments.isAvailable, work)

const rollOut = (client: Client) =>
  Deployments.forEach(fleet, (name) =>
    client.patch(Deployment, { namespace, name }, Patch.merge({ spec: { template: Deployments.template(name, 2) } }))
  )

const ours = (where: Stand.Server, client: Client) =>
  Effect.gen(function* () {
    const running = yield* Stand.controllers(where, ["deployment", "replicaset", "garbagecollector"])
    yield* Effect.forkScoped(Effect.forever(Effect.ignore(PodStatuses.write(client, namespace, PodStatuses.running))))
    /** Milliseconds of CPU time for each pod, and seconds. */
    const cost = (work: Effect.Effect<void, unknown>) =>
      Effect.gen(function* () {
        const [before, began] = [Stand.usageOf(running).cpuMillis, performance.now()]
        yield* work
        // What is written about it afterwards is a part of it.
        yield* Effect.sleep("2 seconds")
        const seconds = (performance.now() - began) / 1000
        return { cpu: (Stand.usageOf(running).cpuMillis - before) / pods, seconds }
      })
    const created = yield* cost(complete(client, Deployments.create(client, fleet)))
    const rolled = yield* cost(complete(client, rollOut(client)))
    const deleted = yield* cost(Deployments.pods(client, fleet, "DELETED", Deployments.remove(client, fleet)))
    return { created, rolled, deleted, peakMiB: Stand.usageOf(running).peakMiB }
  }).pipe(Effect.scoped)

/** A quarter of the pods for each bound, in a process of its own, and again: the second time counts, because the program is warm by then too. */
const floor = (where: Stand.Server, client: Client, name: string) => {
  const bound = (kind: string, { cached = false, watched = false }) =>
    Effect.gen(function* () {
      const send = yield* bare(where)
      const cost = (time: string) =>
        Effect.gen(function* () {
          const order = { namespace: `${name}-${kind}-${time}`, count: pods / 4 }
          yield* client.create(Namespace, { metadata: { name: order.namespace } })
          // From before the pods, because a watch begins with an event for each object that is there.
          yield* send({ ...order, method: "POST", watched })
          return (yield* send({ ...order, method: "DELETE", cached })).cpuEach
        })
      yield* cost("first")
      return yield* cost("second")
    }).pipe(Effect.scoped)
  return Effect.all({
    alone: bound("alone", {}),
    watched: bound("watched", { watched: true }),
    cached: bound("cached", { cached: true })
  })
}

export const run = (): Promise<Array<Figure>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const where = yield* Stand.server
        const client = yield* Stand.client(where)
        yield* client.create(Namespace, { metadata: { name: namespace } })
        // Before and after, because a machine that others use too is not as fast at all times.
        const first = yield* floor(where, client, "first")
        const { created, deleted, peakMiB, rolled } = yield* ours(where, client)
        const last = yield* floor(where, client, "last")
        const of = (bound: keyof typeof first) => (first[bound] + last[bound]) / 2
        const deletion = of("alone")
        const beside = (bound: "watched" | "cached", what: string): Figure => ({
          name: `${name}, cascade: processor over ${what}`,
          value: deleted.cpu,
          unit: "ms/pod",
          floor: of(bound),
          ratio: deleted.cpu / of(bound),
          bar: "none",
          ok: true
        })
        const name = `${deployments} Deployments × ${replicas} on ${where.what}`
        const both = created.cpu + deleted.cpu
        return [
          {
            name: `${name}, created in ${created.seconds.toFixed(0)} s: processor`,
            value: created.cpu,
            unit: "ms/pod",
            bar: "none",
            ok: true
          },
          {
            name: `${name}, rollout in ${rolled.seconds.toFixed(0)} s: processor over creation and cascade`,
            value: rolled.cpu,
            unit: "ms/pod",
            floor: both,
            ratio: rolled.cpu / both,
            bar: "≤ 1.1 ×",
            ok: rolled.cpu <= 1.1 * both
          },
          {
            name: `${name}, cascade in ${deleted.seconds.toFixed(0)} s: processor over a bare loop of DELETE`,
            value: deleted.cpu,
            unit: "ms/pod",
            floor: deletion,
            ratio: deleted.cpu / deletion,
            bar: "≤ 1.3 ×",
            ok: deleted.cpu <= 1.3 * deletion
          },
          beside("watched", "the same loop that also parses the events"),
          beside("cached", "a loop over the client and the cache of this library"),
          { name: `${name}: peak memory`, value: peakMiB, unit: "MiB RSS", bar: "none", ok: true }
        ]
      })
    )
  )
