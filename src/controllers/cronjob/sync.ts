/**
 * One sync of a CronJob: deletes surplus Jobs, updates the active list, plans, creates the Job that is due, and writes the
 * status once. This file holds the order of the steps, any of which may fail. Source: pkg/controller/cronjob: syncCronJob.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type { Job } from "../../kube/resources.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as Apply from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as Events from "./events.ts"
import { mayRun } from "./handoff.ts"
import * as Plan from "./plan/plan.ts"
import * as Runs from "./runs.ts"
import type { State } from "./state.ts"
import * as Status from "./status.ts"

export const sync = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome, Apply.Failure> {
    const cronJob = deps.cronJobs.get(key)
    if (cronJob === undefined) return Reconcile.done
    if (state.takeUnparseable(key)) {
      yield* Apply.record(deps, cronJob, [Events.unparseableUpdate(cronJob.spec?.schedule ?? "")])
      return Reconcile.done
    }
    const runs = deps.jobs.byIndex(Runs.byParent.name, key)
    const cleaned = yield* Apply.clean(deps, cronJob, Runs.surplus(cronJob, runs))
    const live = yield* getMissing(deps, Status.unknown(cleaned.status, runs))
    const now = yield* Clock.currentTimeMillis
    const account = Status.status({ cronJob, status: cleaned.status, runs, live, now })
    const unexpectedJobs = account.unexpected.filter(({ metadata }) => !state.wasReported(metadata.uid ?? ""))
    const mayReport =
      unexpectedJobs.length === 0 || (yield* Handoff.isSameVersion(cronJob, deps.live(cronJob.metadata)))
    if (!mayReport) return Reconcile.after(Handoff.retryAfter)
    const plan = Plan.plan({ cronJob, status: account.status, now, zone: deps.zone })
    if (plan.run !== undefined && !(yield* mayRun(deps, state, { cronJob, run: plan.run })))
      return Reconcile.after(Handoff.retryAfter)
    yield* Apply.record(deps, cronJob, [
      ...unexpectedJobs.map(({ metadata }) => Events.unexpected(metadata.name)),
      ...account.eventDrafts,
      ...plan.eventDrafts
    ])
    const { missed } = plan
    if (missed !== undefined && state.isNewMiss(cronJob.metadata.uid ?? "", missed)) {
      yield* Apply.record(deps, cronJob, [Events.missed(missed)])
    }
    for (const { metadata } of unexpectedJobs) state.markReported(metadata.uid ?? "")
    const done = yield* Apply.apply(deps, cronJob, { status: account.status, run: plan.run })
    if (done.status !== Runs.statusOf(cronJob)) yield* deps.updateStatus({ ...cronJob, status: done.status })
    const failure = done.failure ?? cleaned.failure
    if (failure === undefined) return plan.wait === undefined ? Reconcile.done : Reconcile.after(plan.wait)
    // Backoff after a failure does not delay the next scheduled time.
    if (plan.wait !== undefined) deps.queue.addWithUnsafe(key, { after: plan.wait })
    return yield* failure
  })

/** Reads active Jobs that the cache lacks, to learn whether they exist. */
const getMissing = Effect.fnUntraced(function* ({ liveJob }: Deps, references: ReadonlyArray<Runs.Reference>) {
  const live = new Map<string, Job | undefined>()
  for (const { name = "", namespace, uid = "" } of references) {
    const found = yield* ApiError.unlessGone(liveJob({ namespace, name }))
    // A Job of that name with another uid is another Job.
    live.set(uid, found?.metadata.uid === uid ? found : undefined)
  }
  return live
})
