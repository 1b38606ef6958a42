/**
 * job: runs pods until enough have succeeded or too many have failed. Each pod is counted exactly once, even if the process stops between two writes.
 * The sync is in `job/`; this file declares what it reads and writes. Source: pkg/controller/job: syncJob.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import type { Key } from "../kube/Key.ts"
import { Job, Pod } from "../kube/resources.ts"
import * as Selector from "../kube/Selector.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as State from "./job/state.ts"
import * as Metrics from "./job/metrics.ts"
import * as Orphans from "./job/orphans.ts"
import * as Deps from "./job/deps.ts"
import * as Sync from "./job/sync.ts"
import * as Triggers from "./job/triggers.ts"
import * as Indexes from "./shared/workload/indexes.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-job-syncs", 5, "Jobs")
}

export type Options = Setting.Options<typeof settings>

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "job",
    metrics: Metrics.families,
    component: "job-controller",
    for: Job,
    access: [
      Access.read(Job),
      Access.own(Job),
      Access.get(Job),
      Access.update(Job, "status"),
      Access.read(Pod),
      Access.list(Pod),
      Access.create(Pod),
      Access.patch(Pod),
      Access.remove(Pod),
      Access.record
    ],
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { base: "1 second", max: "1 minute" },
    // Failures of one Job do not delay others: no shared token bucket.
    bucket: { perSecond: 1e6, burst: 1e6 },
    // A sync waits until the cache shows its last write, at most as long as for expectations.
    readYourWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.map(Metrics.watching, (metrics) => {
        const { onJob, onPod, reconcile } = loopOf({
          jobs: store(Job),
          pods: store(Pod),
          live: ({ metadata }) => client.get(Job, metadata),
          livePods: (job) => {
            const selector = Triggers.selectorOf(job)
            if (selector === undefined) return Effect.succeed([])
            const options = { namespace: job.metadata.namespace, labelSelector: Selector.formatLabels(selector) }
            return Effect.map(client.list(Pod, options), ({ items }) => items)
          },
          updateStatus: (job) => client.subresource("status").update(Job, job),
          create: (pod, namespace) => client.create(Pod, pod, { namespace }),
          patch: (pod, patch) => client.patch(Pod, pod.metadata, patch),
          remove: (pod) => client.delete(Pod, pod.metadata),
          events,
          queue
        })
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

/** The loop of one leadership term, with its own state. A key names a Job, or a pod whose tracking finalizer no Job will remove (`orphans.ts`). */
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
