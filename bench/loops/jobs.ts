/**
 * Two hundred Jobs of ten pods, which all succeed as soon as they exist: from the first create until every Job is complete and every pod counted.
 * The lower bound is the same pods created, and their statuses written once, by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Job, Namespace } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as PodStatuses from "./podStatuses.ts"
import * as Stand from "./stand.ts"

const [jobs, each] = [200, 10]
const pods = jobs * each
const namespace = "load"

const podSpec = { restartPolicy: "Never", containers: [{ name: "main", image: "example.test/main:1" }] } as const

const complete = (client: KubeClient["Service"], expected: number) => {
  const done = new Set<string>()
  return client.watch(Job, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as Job
      if (status?.conditions?.some(({ status, type }) => type === "Complete" && status === "True") === true) {
        done.add(metadata.name)
      }
      return done.size === expected
    }),
    Stream.runDrain
  )
}

const create = (client: KubeClient["Service"], name: string) =>
  client.create(Job, {
    metadata: { namespace, name },
    spec: { parallelism: each, completions: each, template: { spec: podSpec } }
  })

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const path = "/api/v1/namespaces/floor/pods"
    return yield* Effect.promise(() =>
      Stand.plainly(where, 2 * pods, (index) => {
        const name = `p-${index % pods}`
        return index < pods
          ? { method: "POST", path, body: { metadata: { name }, spec: podSpec } }
          : { method: "PATCH", path: `${path}/${name}/status`, body: { status: PodStatuses.succeeded } }
      })
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  const running = yield* Stand.controllers(where, ["job"])
  yield* Effect.forkScoped(PodStatuses.write(client, namespace, () => PodStatuses.succeeded))
  // When the first is done, the caches have synced.
  yield* create(client, "first")
  yield* complete(client, 1)
  const before = Stand.usageOf(running).cpuMillis
  const began = performance.now()
  const names = Array.from({ length: jobs }, (_, index) => `load-${index}`)
  yield* Effect.all(
    [
      complete(client, jobs + 1),
      Effect.forEach(names, (name) => create(client, name), { concurrency: 8, discard: true })
    ],
    { concurrency: "unbounded" }
  )
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  return Stand.figures(`200 Jobs × 10 pods on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / pods,
    floorCpu: 2 * bare.cpuEach,
    per: "pod",
    peakMiB
  })
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
