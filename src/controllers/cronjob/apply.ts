/**
 * Carries out the plan of a CronJob: deletes surplus Jobs, and replaces and creates Jobs, with an event on the CronJob for
 * each call. Any call may fail; the status has what was done before. Source: pkg/controller/cronjob: syncCronJob,
 * cleanupFinishedJobs.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import type { Deps } from "./deps.ts"
import * as Events from "./events.ts"
import type * as Plan from "./plan/plan.ts"
import * as Runs from "./runs.ts"

const skew = Family.histogram(
  "cronjob_controller_job_creation_skew_duration_seconds",
  "Seconds from the scheduled time of a Job to its creation",
  Family.exponential(1, 2, 10)
)

export const families = [skew]

/** Observes the delay between the scheduled time and the creation. */
const observeSkew = ({ metadata }: Job, time: number): Effect.Effect<void> => {
  const createdAt = Time.parse(metadata.creationTimestamp)
  return createdAt === undefined ? Effect.void : skew.observe((createdAt - time) / 1000)
}

/** A Job to be replaced could not be deleted. */
export class NotReplaced extends Data.TaggedError("NotReplaced")<{ readonly job: string }> {
  override get message(): string {
    return `could not replace job ${this.job}`
  }
}

export type Failure = ApiError.ApiError | NotReplaced

/** The status after a part of the sync, and its failure. */
export interface Done {
  readonly status: Runs.Status
  readonly failure?: Failure | undefined
}

interface Target {
  readonly status: Runs.Status
  readonly run: Plan.Run | undefined
}

/** Deletes the Jobs that are replaced, and creates the Job that is due. */
export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  cronJob: CronJob,
  { run, status: before }: Target
): Effect.fn.Return<Done> {
  if (run === undefined) return { status: before }
  const { failure, status } = yield* replace(deps, cronJob, before, run.replaces)
  return failure === undefined ? yield* start(deps, cronJob, status, run.time) : { status, failure }
})

/** Deletes the active Jobs before the next one; stops at the first failure. */
const replace = Effect.fnUntraced(function* (
  deps: Deps,
  cronJob: CronJob,
  before: Runs.Status,
  references: ReadonlyArray<Runs.Reference>
): Effect.fn.Return<Done> {
  let status = before
  for (const { name = "", namespace } of references) {
    const found = yield* Effect.result(deps.liveJob({ namespace, name }))
    if (Result.isFailure(found)) {
      yield* record(deps, cronJob, [Events.getFailed(found.failure.message)])
      return { status, failure: found.failure }
    }
    const removed = yield* remove(deps, cronJob, status, found.success)
    if (removed.failure !== undefined) {
      return { status, failure: new NotReplaced({ job: Key.make(namespace, name) }) }
    }
    status = removed.status
  }
  return { status }
})

/** Creates the Job for that time. If it exists and is ours, an earlier sync created it without recording it. */
const start = Effect.fnUntraced(function* (
  deps: Deps,
  cronJob: CronJob,
  status: Runs.Status,
  time: number
): Effect.fn.Return<Done> {
  const draft = Runs.draft(cronJob, time)
  const { name = "", namespace } = draft.metadata
  const created = yield* Effect.result(deps.create(draft, namespace))
  if (Result.isSuccess(created)) {
    yield* record(deps, cronJob, [Events.created(name)])
    yield* observeSkew(created.success, time)
    yield* Effect.annotateLogs(Effect.logInfo("Started a run of a CronJob"), { job: name, time: Time.format(time) })
    return { status: written(status, created.success, time) }
  }
  const { failure } = created
  // Nothing can be created in a terminating namespace, and the CronJob will be deleted with it.
  if (ApiError.isNamespaceTerminating(failure)) return { status }
  if (!ApiError.hasReason(failure, "AlreadyExists")) {
    yield* record(deps, cronJob, [Events.createFailed(failure.message)])
    return { status, failure }
  }
  const found = yield* Effect.result(deps.liveJob({ namespace, name }))
  if (Result.isFailure(found)) return { status, failure: found.failure }
  if (!Owner.controlledBy(found.success, cronJob.metadata.uid)) {
    yield* Effect.annotateLogs(
      Effect.logWarning("Cannot create a Job of a CronJob: another owner's Job has its name"),
      {
        job: name
      }
    )
    return { status }
  }
  yield* Effect.annotateLogs(Effect.logInfo("The Job of a CronJob exists already"), { job: name })
  return { status: Runs.isActive(status, found.success.metadata.uid) ? status : written(status, found.success, time) }
})

const written = (status: Runs.Status, job: Job, time: number): Runs.Status =>
  Runs.withTime(Runs.withActive(status, [...Runs.activeOf(status), Runs.reference(job)]), time)

/** Deletes Jobs above the history limits; a failed deletion is retried by the next sync. */
export const clean = Effect.fnUntraced(function* (deps: Deps, cronJob: CronJob, jobs: ReadonlyArray<Job>) {
  let done: Done = { status: Runs.statusOf(cronJob) }
  for (const job of jobs) {
    const removed = yield* remove(deps, cronJob, done.status, job)
    done = { status: removed.status, failure: done.failure ?? removed.failure }
  }
  return done
})

/** Deletes a Job and removes it from the active list. */
const remove = Effect.fnUntraced(function* (
  deps: Deps,
  cronJob: CronJob,
  status: Runs.Status,
  job: Job
): Effect.fn.Return<Done> {
  const removed = yield* Effect.result(deps.remove(job))
  if (Result.isFailure(removed) && !ApiError.hasReason(removed.failure, "NotFound")) {
    yield* record(deps, cronJob, [Events.deleteFailed(removed.failure.message)])
    return { status, failure: removed.failure }
  }
  const { name, uid } = job.metadata
  if (Result.isSuccess(removed)) {
    yield* record(deps, cronJob, [Events.deleted(name)])
    yield* Effect.annotateLogs(Effect.logDebug("Deleted a Job of a CronJob"), { job: name })
  }
  const left = Runs.activeOf(status).filter((one) => one.uid !== uid)
  return { status: Runs.withActive(status, left) }
})

/** Records the events one after the other. */
export const record = (
  { events }: Pick<Deps, "events">,
  cronJob: CronJob,
  eventDrafts: ReadonlyArray<Events.EventDraft>
): Effect.Effect<void> =>
  Effect.forEach(eventDrafts, ({ message, reason, type }) => events.event(cronJob, type, reason, message), {
    discard: true
  })
