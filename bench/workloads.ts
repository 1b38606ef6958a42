/**
 * Fifty Deployments of forty replicas on an API server without nodes, from the first create until every status has all replicas updated at the present
 * generation: the whole program as a process of its own, its CPU time and its peak memory read from the operating system. The lower bound is
 * the same pods created by a bare loop of POSTs against the same server. With `KUBEBUILDER_ASSETS` the server is a real kube-apiserver,
 * otherwise the embedded one in a third process.
 */
import * as Effect from "effect/Effect"
import { Namespace } from "../src/kube/resources.ts"
import type { KubeClient } from "../src/layers/KubeClient.ts"
import type { Figure } from "./figure.ts"
import * as Deployments from "./loops/deployments.ts"
import * as Stand from "./loops/stand.ts"

const [deployments, replicas] = [50, 40]
const pods = deployments * replicas
/** Creates all Deployments and waits until each is complete; returns milliseconds. */
const rollOut = (client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "load" } })
    const fleet = Deployments.fleet("load", deployments, replicas)
    const began = performance.now()
    yield* Deployments.until(client, fleet, Deployments.isUpdated, Deployments.create(client, fleet))
    return performance.now() - began
  })

/** The same pods by a bare loop. */
const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.andThen(
    client.create(Namespace, { metadata: { name: "floor" } }),
    Effect.promise(() =>
      // The test chooses the names: of two thousand names that the server generates, two may be the same.
      Stand.plainly(where, pods, (index) => ({
        method: "POST",
        path: "/api/v1/namespaces/floor/pods",
        body: { ...Deployments.template("load-0"), metadata: { name: `p-${index}` } }
      }))
    )
  )

/** The program with these flags. */
const measure = (where: Stand.Server, client: KubeClient["Service"], flags: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const running = yield* Stand.controllers(where, ["deployment", "replicaset"], flags)
    const before = Stand.usageOf(running).cpuMillis
    const millis = yield* rollOut(client)
    const { cpuMillis, peakMiB } = Stand.usageOf(running)
    return { perSecond: (pods * 1000) / millis, cpuPerPod: (cpuMillis - before) / pods, peakMiB }
  }).pipe(Effect.scoped)

const pairs = 15

/** The median of the processor time with the timeline over that without it: pairs of runs in turns, each on a new server. */
const timeline = Effect.gen(function* () {
  const cpu = (limit: string) =>
    Effect.gen(function* () {
      const where = yield* Stand.server
      return (yield* measure(where, yield* Stand.client(where), [`--timeline-limit=${limit}`])).cpuPerPod
    }).pipe(Effect.scoped)
  const ratios = yield* Effect.forEach(Array.from({ length: pairs }), () =>
    Effect.map(Effect.all([cpu("16Mi"), cpu("0")]), ([recorded, plain]) => recorded / plain)
  )
  return ratios.toSorted((a, b) => a - b)[(pairs - 1) / 2] ?? 0
})

export const run = async (): Promise<Array<Figure>> => {
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const where = yield* Stand.server
        const client = yield* Stand.client(where)
        const ours = yield* measure(where, client)
        const bare = yield* floor(where, client)
        const recorded = yield* timeline
        const name = `50 Deployments × 40 on ${where.what}`
        return [
          {
            name,
            value: ours.perSecond,
            unit: "pods/s",
            floor: bare.perSecond,
            ratio: ours.perSecond / bare.perSecond,
            bar: "≥ 400 pods/s",
            ok: ours.perSecond >= 400
          },
          {
            name: `${name}: processor`,
            value: ours.cpuPerPod,
            unit: "ms/pod",
            floor: bare.cpuEach,
            ratio: ours.cpuPerPod / bare.cpuEach,
            bar: "≤ 1.2 ms/pod",
            ok: ours.cpuPerPod <= 1.2
          },
          {
            name: `${name}: peak memory`,
            value: ours.peakMiB,
            unit: "MiB RSS",
            bar: "≤ 220 MiB",
            ok: ours.peakMiB <= 220
          },
          {
            name: `${name}: processor with the timeline over that without`,
            value: recorded,
            unit: "×",
            bar: "≤ 1.05 ×",
            ok: recorded <= 1.05
          }
        ]
      })
    )
  )
}
