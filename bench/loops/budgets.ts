/**
 * A thousand disruption budgets, each over five ready pods of a ReplicaSet: from the first create of a budget until each status has its allowed disruptions; and
 * then one pod of each becomes unready, until each status allows none. The lower bound is the same number of statuses written by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Namespace, PodDisruptionBudget, ReplicaSet } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as PodStatuses from "./podStatuses.ts"
import * as Stand from "./stand.ts"

const [budgets, each] = [1000, 5]
const namespace = "load"
const path = `/api/v1/namespaces/${namespace}/pods`

const nameOf = (index: number) => `load-${index % budgets}`

const containers = [{ name: "main", image: "example.test/main:1" }]

const populate = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    const uids: Array<string> = []
    for (let index = 0; index < budgets; index++) {
      const labels = { of: nameOf(index) }
      const { metadata } = yield* client.create(ReplicaSet, {
        metadata: { namespace, name: nameOf(index) },
        spec: {
          replicas: each,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } }
        }
      })
      uids.push(metadata.uid ?? "")
    }
    yield* Effect.promise(async () => {
      await Stand.plainly(where, budgets * each, (index) => ({
        method: "POST",
        path,
        body: {
          metadata: {
            name: `p-${index}`,
            labels: { of: nameOf(index) },
            ownerReferences: [
              {
                apiVersion: "apps/v1",
                kind: "ReplicaSet",
                name: nameOf(index),
                uid: uids[index % budgets],
                controller: true
              }
            ]
          },
          spec: { containers }
        }
      }))
      await Stand.plainly(where, budgets * each, (index) => ({
        method: "PATCH",
        path: `${path}/p-${index}/status`,
        body: { status: PodStatuses.running(index) }
      }))
    })
  })

/** Waits until this many budgets allow this many disruptions. */
const allow = (client: KubeClient["Service"], count: number, allowed: number) => {
  const done = new Set<string>()
  return client.watch(PodDisruptionBudget, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as PodDisruptionBudget
      if (status?.expectedPods === each && status.disruptionsAllowed === allowed) done.add(metadata.name)
      return done.size === count
    }),
    Stream.runDrain
  )
}

const create = (client: KubeClient["Service"], index: number) =>
  client.create(PodDisruptionBudget, {
    metadata: { namespace, name: nameOf(index) },
    spec: { maxUnavailable: 1, selector: { matchLabels: { of: nameOf(index) } } }
  })

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const at = "/apis/policy/v1/namespaces/floor/poddisruptionbudgets"
    const spec = { maxUnavailable: 1, selector: { matchLabels: { of: "nobody" } } }
    yield* Effect.promise(() =>
      Stand.plainly(where, budgets, (index) => ({
        method: "POST",
        path: at,
        body: { metadata: { name: `b-${index}` }, spec }
      }))
    )
    const counts = { currentHealthy: each, desiredHealthy: each - 1, expectedPods: each, disruptionsAllowed: 1 }
    return yield* Effect.promise(() =>
      Stand.plainly(where, budgets, (index) => ({
        method: "PATCH",
        path: `${at}/b-${index}/status`,
        body: { status: { ...counts, observedGeneration: 1 } }
      }))
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* populate(where, client)
  const running = yield* Stand.controllers(where, ["disruption"])
  /** Seconds and CPU time until the statuses of the budgets say so. */
  const timed = <A, E>(count: number, allowed: number, act: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const before = Stand.usageOf(running).cpuMillis
      const began = performance.now()
      yield* Effect.all([allow(client, count, allowed), act], { concurrency: "unbounded" })
      const seconds = (performance.now() - began) / 1000
      const { cpuMillis, peakMiB } = Stand.usageOf(running)
      return {
        seconds,
        floorSeconds: bare.millis / 1000,
        cpu: (cpuMillis - before) / budgets,
        floorCpu: bare.cpuEach,
        per: "budget",
        peakMiB
      }
    })
  // When the first is done, the caches have synced.
  yield* Effect.all([allow(client, 1, 1), create(client, 0)], { concurrency: "unbounded" })
  const others = Array.from({ length: budgets - 1 }, (_, index) => index + 1)
  const counted = yield* timed(
    budgets,
    1,
    Effect.forEach(others, (index) => create(client, index), { concurrency: 8, discard: true })
  )
  const conditions = [{ type: "Ready", status: "False", lastTransitionTime: "2020-01-01T00:00:00Z" }]
  const turned = yield* timed(
    budgets,
    0,
    Effect.promise(() =>
      Stand.plainly(where, budgets, (index) => ({
        method: "PATCH",
        path: `${path}/p-${index}/status`,
        body: { status: { conditions } }
      }))
    )
  )
  return [
    ...Stand.figures(`1,000 disruption budgets × ${each} pods counted on ${where.what}`, counted),
    ...Stand.figures(`the same when one pod of each turns unready`, turned)
  ]
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
