/**
 * cronjob: creates Jobs on schedules, in any time zone. No time is run twice, even if the process ends between two
 * writes, and `concurrencyPolicy` is respected. `cronjob/` decides and applies; this file holds the watches and limits.
 * Source: pkg/controller/cronjob: syncCronJob.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Zone from "../kube/cron/Zone.ts"
import type { Key } from "../kube/Key.ts"
import { CronJob, Job } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Apply from "./cronjob/apply.ts"
import * as Deps from "./cronjob/deps.ts"
import * as Runs from "./cronjob/runs.ts"
import * as State from "./cronjob/state.ts"
import * as Sync from "./cronjob/sync.ts"
import * as Triggers from "./cronjob/triggers.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-cron-job-syncs", 5, "CronJobs")
}

export interface Options extends Setting.Options<typeof settings> {
  /** For schedules without a time zone. Default: the zone of the process. */
  readonly zone?: Zone.Zone | undefined
}

// Triggers mark the CronJobs that the cache is fresh for, and those with a new schedule.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "cronjob",
    metrics: Apply.families,
    component: "cronjob-controller",
    for: CronJob,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(loopOf(Deps.depsOf(context, options.zone ?? Zone.local())), ({ onCronJob, onJob, reconcile }) => ({
        sources: [Controller.watch(CronJob, onCronJob), Controller.watch(Job, onJob, { indexes: [Runs.byParent] })],
        reconcile
      }))
  })

/** Triggers and reconcile of one leadership term, with their own state. */
export interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onCronJob: Trigger.Trigger<CronJob>
  readonly onJob: Trigger.Trigger<Job>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome, Apply.Failure>
}

export const loopOf = (given: Deps.Deps): Effect.Effect<Loop> =>
  Effect.map(Clock.Clock, (clock) => {
    const state = State.make()
    const deps = Deps.distrustOnUnknownOutcome(given, state)
    const sync = Sync.sync(deps, state)
    return {
      onCronJob: Triggers.cronJob(deps, state, clock),
      onJob: Triggers.job(deps, state),
      reconcile: ({ key }) => sync(key)
    }
  })
