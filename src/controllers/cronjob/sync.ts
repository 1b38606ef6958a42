/**
 * One sync of a CronJob: deletes surplus Jobs, updates the active list, creates the Job that is due, and writes the
 * status once. `plan/` decides; this file holds the order of the writes, any of which may fail. Source:
 * pkg/controller/cronjob: syncCronJob.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { State } from "./state.ts"
import * as Freshness from "./handoff.ts"
import * as Account from "./status.ts"
import * as Decide from "./plan/plan.ts"
import * as Runs from "./runs.ts"
import type { Deps } from "./deps.ts"

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

/** By then the cache has probably caught up. */
const shortly = Reconcile.after("1 second")

/** The status after a part of the sync, and its failure. */
interface Done {
  readonly status: Runs.Status
  readonly failure?: Failure | undefined
}

export const sync = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome, Failure> {
    const cronJob = deps.cronJobs.get(key)
    if (cronJob === undefined) return Reconcile.done
    if (state.takeUnparseable(key)) {
      const text = `unparseable schedule for cronjob: ${cronJob.spec?.schedule ?? ""}`
      yield* record(deps, cronJob, [Runs.warning("UnParseableCronJobSchedule", text)])
      return Reconcile.done
    }
    const runs = deps.jobs.byIndex(Runs.byParent.name, key)
    const cleaned = yield* clean(deps, cronJob, Runs.surplus(cronJob, runs))
    const live = yield* getMissing(deps, Account.unknown(cleaned.status, runs))
    const now = yield* Clock.currentTimeMillis
    const account = Account.settle({ cronJob, status: cleaned.status, runs, live, now })
    const unexpectedJobs = account.unexpected.filter(({ metadata }) => !state.wasReported(metadata.uid ?? ""))
    if (unexpectedJobs.length > 0 && !(yield* Freshness.isCurrent(deps, cronJob))) return shortly
    const decision = Decide.decide({ cronJob, status: account.status, now, zone: deps.zone })
    if (decision.run !== undefined && !(yield* Freshness.mayRun(deps, state, cronJob, decision.run))) return shortly
    yield* record(deps, cronJob, [
      ...unexpectedJobs.map(unexpectedEvent),
      ...account.eventDrafts,
      ...decision.eventDrafts
    ])
    const { missed } = decision
    if (missed !== undefined && state.isNewMiss(cronJob.metadata.uid ?? "", missed)) {
      yield* record(deps, cronJob, [Decide.missed(missed)])
    }
    for (const { metadata } of unexpectedJobs) state.markReported(metadata.uid ?? "")
    const done = yield* run(deps, cronJob, account.status, decision.run)
    if (done.status !== Runs.statusOf(cronJob)) yield* deps.updateStatus({ ...cronJob, status: done.status })
    const failure = done.failure ?? cleaned.failure
    if (failure === undefined) return decision.wait === undefined ? Reconcile.done : Reconcile.after(decision.wait)
    // Backoff after a failure does not delay the next scheduled time.
    if (decision.wait !== undefined) deps.queue.addWithUnsafe(key, { after: decision.wait })
    return yield* failure
  })

const record = (
  { events }: Pick<Deps, "events">,
  cronJob: CronJob,
  eventDrafts: ReadonlyArray<Runs.EventDraft>
): Effect.Effect<void> =>
  Effect.forEach(eventDrafts, ({ message, reason, type }) => events.event(cronJob, type, reason, message), {
    discard: true
  })

const unexpectedEvent = ({ metadata }: Job): Runs.EventDraft =>
  Runs.warning("UnexpectedJob", `Saw a job that the controller did not create or forgot: ${metadata.name}`)

/** Deletes Jobs above the history limits; a failed deletion is retried by the next sync. */
const clean = Effect.fnUntraced(function* (deps: Deps, cronJob: CronJob, jobs: ReadonlyArray<Job>) {
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
    yield* record(deps, cronJob, [Runs.warning("FailedDelete", `Deleted job: ${removed.failure.message}`)])
    return { status, failure: removed.failure }
  }
  const { name, uid } = job.metadata
  if (Result.isSuccess(removed)) {
    yield* record(deps, cronJob, [Runs.normal("SuccessfulDelete", `Deleted job ${name}`)])
    yield* Effect.annotateLogs(Effect.logDebug("Deleted a Job of a CronJob"), { job: name })
  }
  const left = Runs.activeOf(status).filter((one) => one.uid !== uid)
  return { status: Runs.withActive(status, left) }
})

/** Reads active Jobs that the cache lacks, to learn whether they exist. */
const getMissing = Effect.fnUntraced(function* ({ liveJob }: Deps, references: ReadonlyArray<Runs.Reference>) {
  const live = new Map<string, Job | undefined>()
  for (const { name = "", namespace, uid = "" } of references) {
    const found = yield* Effect.result(liveJob({ namespace, name }))
    if (Result.isFailure(found) && !ApiError.hasReason(found.failure, "NotFound")) return yield* found.failure
    // A Job of that name with another uid is another Job.
    live.set(uid, Result.isSuccess(found) && found.success.metadata.uid === uid ? found.success : undefined)
  }
  return live
})

const run = Effect.fnUntraced(function* (
  deps: Deps,
  cronJob: CronJob,
  before: Runs.Status,
  planned: Decide.Run | undefined
): Effect.fn.Return<Done> {
  if (planned === undefined) return { status: before }
  const { failure, status } = yield* replace(deps, cronJob, before, planned.replaces)
  return failure === undefined ? yield* start(deps, cronJob, status, planned.time) : { status, failure }
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
      yield* record(deps, cronJob, [Runs.warning("FailedGet", `Get job: ${found.failure.message}`)])
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
    yield* record(deps, cronJob, [Runs.normal("SuccessfulCreate", `Created job ${name}`)])
    yield* observeSkew(created.success, time)
    yield* Effect.annotateLogs(Effect.logInfo("Started a run of a CronJob"), { job: name, time: Time.format(time) })
    return { status: written(status, created.success, time) }
  }
  const { failure } = created
  // Nothing can be created in a terminating namespace, and the CronJob will be deleted with it.
  if (ApiError.isNamespaceTerminating(failure)) return { status }
  if (!ApiError.hasReason(failure, "AlreadyExists")) {
    yield* record(deps, cronJob, [Runs.warning("FailedCreate", `Error creating job: ${failure.message}`)])
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
