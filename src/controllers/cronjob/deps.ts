/** The stores and API calls that the CronJob controller depends on, and the access that they need. */
import * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type * as Zone from "../../kube/cron/Zone.ts"
import type { Draft } from "../../kube/Meta.ts"
import { CronJob, Job } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Handoff from "../shared/workload/handoff.ts"

type Call<A> = Effect.Effect<A, ApiError>

/** Namespace and name of an object. */
export interface Place {
  readonly namespace?: string | undefined
  readonly name: string
}

export interface Deps {
  readonly cronJobs: Store.Readable<CronJob>
  readonly jobs: Store.Readable<Job>
  /** For schedules without a time zone: the zone of the process. */
  readonly zone: Zone.Zone
  /** The CronJob of that name, read from the server. */
  readonly live: (place: Place) => Call<CronJob>
  /** The Job of that name, read from the server. */
  readonly liveJob: (place: Place) => Call<Job>
  /** All Jobs of a namespace, read from the server. */
  readonly liveJobs: (namespace: string | undefined) => Call<ReadonlyArray<Job>>
  readonly updateStatus: (cronJob: CronJob) => Call<CronJob>
  readonly create: (job: Draft<Job>, namespace: string | undefined) => Call<Job>
  /** With background propagation and the uid as a precondition. */
  readonly remove: (job: Job) => Call<unknown>
  readonly events: Pick<EventSink, "event">
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
  Access.read(CronJob),
  Access.own(CronJob),
  Access.get(CronJob),
  Access.update(CronJob, "status"),
  Access.read(Job),
  Access.get(Job),
  Access.list(Job),
  Access.create(Job),
  Access.remove(Job),
  Access.record
] as const

export const depsOf = (
  { client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>,
  zone: Zone.Zone
): Deps => ({
  cronJobs: store(CronJob),
  jobs: store(Job),
  zone,
  live: (place) => client.get(CronJob, place),
  liveJob: (place) => client.get(Job, place),
  liveJobs: (namespace) => Effect.map(client.list(Job, { namespace }), ({ items }) => items),
  updateStatus: (cronJob) => client.subresource("status").update(CronJob, cronJob),
  create: (job, namespace) => client.create(Job, job, { namespace }),
  remove: ({ metadata }) =>
    client.delete(Job, metadata, {
      propagationPolicy: "Background",
      ...(metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } })
    }),
  events,
  queue
})

/** The same dependencies, but a write with an unknown outcome marks its CronJob as untrusted. */
export const distrustOnUnknownOutcome = (deps: Deps, trust: Handoff.Trust): Deps => ({
  ...deps,
  updateStatus: (cronJob) => Handoff.watched(trust, cronJob.metadata.uid, deps.updateStatus(cronJob)),
  create: (job, namespace) =>
    Handoff.watched(trust, job.metadata.ownerReferences?.[0]?.uid, deps.create(job, namespace))
})
