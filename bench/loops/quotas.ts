/**
 * A thousand quotas, ten in each of a hundred namespaces with fifty pods: from the first create of a quota until each status has the usage; and then a thousand
 * pods are deleted, ten of each namespace, until each status shows that. The lower bound is the same number of statuses written by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Namespace, ResourceQuota } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const [quotas, namespaces, each, leaving] = [1000, 100, 50, 10]

const namespaceOf = (index: number) => `load-${index % namespaces}`

const resources = { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } }
const containers = [{ name: "main", image: "example.test/main:1", resources }]
const hard = { pods: "1k", "requests.cpu": "1k", "limits.memory": "1Ti", "count/configmaps": "1k", services: "1k" }

const podPath = (index: number) => `/api/v1/namespaces/${namespaceOf(index)}/pods`

const populate = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    for (let index = 0; index < namespaces; index++)
      yield* client.create(Namespace, { metadata: { name: namespaceOf(index) } })
    yield* Effect.promise(() =>
      Stand.plainly(where, namespaces * each, (index) => ({
        method: "POST",
        path: podPath(index),
        body: { metadata: { name: `p-${index}` }, spec: { containers } }
      }))
    )
  })

const create = (client: KubeClient["Service"], index: number) =>
  client.create(ResourceQuota, {
    metadata: { namespace: namespaceOf(index), name: `q-${index}` },
    spec: { hard }
  })

/** Waits until this many quotas show this many pods. */
const shown = (client: KubeClient["Service"], expected: number, pods: number) => {
  const done = new Set<string>()
  return client.watch(ResourceQuota, { timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as ResourceQuota
      if (status?.used?.["pods"] === String(pods)) done.add(metadata.name)
      return done.size === expected
    }),
    Stream.runDrain
  )
}

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const path = "/api/v1/namespaces/floor/resourcequotas"
    yield* Effect.promise(() =>
      Stand.plainly(where, quotas, (index) => ({
        method: "POST",
        path,
        body: { metadata: { name: `q-${index}` }, spec: { hard: { pods: "1" } } }
      }))
    )
    const used = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]))
    return yield* Effect.promise(() =>
      Stand.plainly(where, quotas, (index) => ({
        method: "PATCH",
        path: `${path}/q-${index}/status`,
        body: { status: { hard, used } }
      }))
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  yield* populate(where, client)
  const running = yield* Stand.controllers(where, ["resourcequota"])
  const timed = <A, E, R>(count: number, pods: number, act: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const before = Stand.usageOf(running).cpuMillis
      const began = performance.now()
      yield* Effect.all([shown(client, count, pods), act], { concurrency: "unbounded" })
      const seconds = (performance.now() - began) / 1000
      const { cpuMillis, peakMiB } = Stand.usageOf(running)
      return {
        seconds,
        floorSeconds: bare.millis / 1000,
        cpu: (cpuMillis - before) / quotas,
        floorCpu: bare.cpuEach,
        per: "quota",
        peakMiB
      }
    })
  // When the first is done, the caches have synced.
  yield* Effect.all([shown(client, 1, each), create(client, 0)], { concurrency: "unbounded" })
  const others = Array.from({ length: quotas - 1 }, (_, index) => index + 1)
  const counted = yield* timed(
    quotas,
    each,
    Effect.forEach(others, (index) => create(client, index), { concurrency: 8, discard: true })
  )
  const freed = yield* timed(
    quotas,
    each - leaving,
    Effect.promise(() =>
      Stand.plainly(where, namespaces * leaving, (index) => ({
        method: "DELETE",
        path: `${podPath(index)}/p-${index}`,
        body: { gracePeriodSeconds: 0 }
      }))
    )
  )
  return [
    ...Stand.figures(`1,000 quotas over ${namespaces * each} pods counted on ${where.what}`, counted),
    ...Stand.figures("the same when 1,000 of the pods go", freed)
  ]
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
