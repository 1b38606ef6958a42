/**
 * job: runs pods until enough have succeeded or too many have failed. Each pod is counted exactly once, even if the process stops between two writes.
 * `job/` decides and applies; this file holds the watches and limits. Source: pkg/controller/job: syncJob.
 */
import * as Effect from "effect/Effect"
import type { Key } from "../kube/Key.ts"
import { Job, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Deps from "./job/deps.ts"
import * as Metrics from "./job/metrics.ts"
import * as Orphans from "./job/orphans.ts"
import * as State from "./job/state.ts"
import * as Sync from "./job/sync.ts"
import * as Triggers from "./job/triggers.ts"
import * as Indexes from "./shared/workload/indexes.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-job-syncs", 5, "Jobs")
}

export type Options = Setting.Options<typeof settings>

// Triggers lower the expectations that the reconcile raises, and mark the Jobs that the cache is fresh for.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "job",
    metrics: Metrics.families,
    component: "job-controller",
    for: Job,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { base: "1 second", max: "1 minute" },
    // Failures of one Job do not delay others: no shared token bucket.
    bucket: { perSecond: 1e6, burst: 1e6 },
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as long as expectations live.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Metrics.watching, (metrics) => {
        const { onJob, onPod, reconcile } = loopOf(Deps.depsOf(context))
        return {
          sources: [
            Controller.watch(Job, (delta) => {
              metrics.job(delta)
              return onJob(delta)
            }),
            Controller.watch(
              Pod,
              (delta) => {
                metrics.pod(delta)
                return onPod(delta)
              },
              { indexes: Indexes.both }
            )
          ],
          reconcile,
          onHeld: metrics.onHeld
        }
      })
  })

/** Triggers and reconcile of one leadership term, with their own state. A key names a Job, or a pod whose tracking finalizer no Job will remove (`orphans.ts`). */
export interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onJob: Trigger.Trigger<Job>
  readonly onPod: Trigger.Trigger<Pod>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

export const loopOf = (given: Deps.Deps): Loop => {
  const state = State.make()
  const deps = Deps.distrustOnUnknownOutcome(given, state)
  const sync = Sync.sync(deps, state)
  const removeFinalizer = Orphans.sync(deps, state)
  return {
    onJob: Triggers.job(deps, state),
    onPod: Triggers.pod(deps, state),
    reconcile: ({ key }) => {
      const pod = Orphans.podOf(key)
      return pod === undefined ? sync(key) : removeFinalizer(pod)
    }
  }
}
