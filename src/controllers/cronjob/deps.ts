/** What the CronJob loop reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type * as Zone from "../../kube/cron/Zone.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"

type Call<A> = Effect.Effect<A, ApiError>

/** Where an object is. */
export interface Place {
  readonly namespace?: string | undefined
  readonly name: string
}

export interface Deps {
  readonly cronJobs: Store.Readable<CronJob>
  readonly jobs: Store.Readable<Job>
  /** Of schedules that say none: where the process runs. */
  readonly zone: Zone.Zone
  /** The CronJob of that name, read from the server. */
  readonly live: (place: Place) => Call<CronJob>
  /** The Job of that name, read from the server. */
  readonly liveJob: (place: Place) => Call<Job>
  /** All Jobs of a namespace, read from the server. */
  readonly liveJobs: (namespace: string | undefined) => Call<ReadonlyArray<Job>>
  readonly updateStatus: (cronJob: CronJob) => Call<CronJob>
  readonly create: (job: Draft<Job>, namespace: string | undefined) => Call<Job>
  /** In the background, and no namesake. */
  readonly remove: (job: Job) => Call<unknown>
  readonly events: Pick<EventSink, "event">
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}
