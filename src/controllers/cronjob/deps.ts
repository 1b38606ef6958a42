/** The stores and API calls that the CronJob controller depends on. */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Zone from "../../kube/cron/Zone.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { State } from "./state.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

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

/** The same dependencies, but a write with an unknown outcome marks its CronJob as untrusted. */
export const distrustOnUnknownOutcome = (deps: Deps, state: State): Deps => {
  const distrusting = <A>(uid: string | undefined, call: Effect.Effect<A, ApiError.ApiError>) =>
    Effect.tapError(call, (error) =>
      Effect.sync(() => {
        if (uid !== undefined && ApiError.hasReason(error, ...unknownOutcome)) state.distrust(uid)
      })
    )
  return {
    ...deps,
    updateStatus: (cronJob) => distrusting(cronJob.metadata.uid, deps.updateStatus(cronJob)),
    create: (job, namespace) => distrusting(job.metadata.ownerReferences?.[0]?.uid, deps.create(job, namespace))
  }
}

const unknownOutcome = ["Network", "Timeout", "ServerError", "Decode"] as const
