/**
 * A thousand CronJobs that are all due at once: from the first that is resumed to the last whose status has its run. The lower bound is the same Jobs created, and
 * the same number of statuses written, by a bare loop. Also a thousand unused claims, deleted together, until the last is gone; there the lower bound is the
 * same number of patches that remove the finalizer.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Patch from "../../src/kube/Patch.ts"
import { CronJob, Namespace, PersistentVolumeClaim } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const count = 1000
const namespace = "load"

const template = {
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.test/main:1" }] }
} as const

const spec = {
  schedule: "* * * * *",
  suspend: true,
  concurrencyPolicy: "Forbid",
  jobTemplate: { spec: { template } }
} as const

type Client = KubeClient["Service"]

/** Waits until this many CronJobs have a run. */
const running = (client: Client, expected: number) => {
  const done = new Set<string>()
  return client.watch(CronJob, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as CronJob
      if ((status?.active ?? []).length > 0) done.add(metadata.name)
      return done.size >= expected
    }),
    Stream.runDrain
  )
}

/** Creates one that is due as soon as it is resumed. */
const prepare = Effect.fnUntraced(function* (client: Client, name: string) {
  yield* client.create(CronJob, { metadata: { namespace, name }, spec })
  const status = { lastScheduleTime: new Date(Date.now() - 150_000).toISOString().replace(/\.\d+/, "") }
  yield* client.patch(CronJob, { namespace, name, subresource: "status" }, Patch.merge({ status }))
})

const resume = (client: Client, name: string) =>
  client.patch(CronJob, { namespace, name }, Patch.merge({ spec: { suspend: false } }))

const cronFloor = (where: Stand.Server) => {
  const base = `/apis/batch/v1/namespaces/${namespace}`
  const status = { lastSuccessfulTime: "2020-01-01T00:00:00Z" }
  return Effect.promise(() =>
    Stand.plainly(where, 2 * count, (index) => {
      const name = `due-${index % count}`
      return index < count
        ? { method: "POST", path: `${base}/jobs`, body: { metadata: { name: `floor-${index}` }, spec: { template } } }
        : { method: "PATCH", path: `${base}/cronjobs/${name}/status`, body: { status } }
    })
  )
}

const names = (prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

const all = <A, E, R>(of: ReadonlyArray<string>, each: (name: string) => Effect.Effect<A, E, R>) =>
  Effect.forEach(of, each, { concurrency: 8, discard: true })

const cronJobs = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* all(["first", ...names("due")], (name) => prepare(client, name))
  const bare = yield* cronFloor(where)
  const process = yield* Stand.controllers(where, ["cronjob"])
  // When the first is done, the caches have synced.
  yield* resume(client, "first")
  yield* running(client, 1)
  const before = Stand.usageOf(process).cpuMillis
  const began = performance.now()
  yield* Effect.all([running(client, count + 1), all(names("due"), (name) => resume(client, name))], {
    concurrency: "unbounded"
  })
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(process)
  return Stand.figures(`1,000 CronJobs due at once on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / count,
    floorCpu: 2 * bare.cpuEach,
    per: "CronJob",
    peakMiB
  })
}).pipe(Effect.scoped)

const finalizers = ["kubernetes.io/pvc-protection"]

const claim = (client: Client, name: string) =>
  client.create(PersistentVolumeClaim, {
    metadata: { namespace, name, finalizers },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  })

/** Waits until this many claims are gone. */
const gone = (client: Client, expected: number) => {
  let left = expected
  return client.watch(PersistentVolumeClaim, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ type }) => type === "DELETED" && --left === 0),
    Stream.runDrain
  )
}

const removal = (client: Client, name: string) => client.delete(PersistentVolumeClaim, { namespace, name })

const claims = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* all(["first", ...names("floor"), ...names("claim")], (name) => claim(client, name))
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`
  const body = { metadata: { finalizers: null } }
  const bare = yield* Effect.promise(() =>
    Stand.plainly(where, count, (index) => ({ method: "PATCH", path: `${path}/floor-${index}`, body }))
  )
  const process = yield* Stand.controllers(where, ["persistentvolumeclaim-protection"])
  // When the first is done, the caches have synced and the claims of the lower bound have their finalizer again.
  yield* Effect.all([gone(client, 1), removal(client, "first")], { concurrency: "unbounded" })
  const before = Stand.usageOf(process).cpuMillis
  const began = performance.now()
  yield* Effect.all([gone(client, count), all(names("claim"), (name) => removal(client, name))], {
    concurrency: "unbounded"
  })
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(process)
  return Stand.figures(`1,000 claims deleted on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / count,
    floorCpu: bare.cpuEach,
    per: "claim",
    peakMiB
  })
}).pipe(Effect.scoped)

export const run = async (): Promise<Array<Figure>> => [
  ...(await Effect.runPromise(cronJobs)),
  ...(await Effect.runPromise(claims))
]
