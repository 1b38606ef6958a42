/** Metrics of the Job loop, under the names of kube-controller-manager. Source: pkg/controller/job/metrics. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as PodFacts from "../../kube/pod.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Workload from "../shared/workload/metrics.ts"
import type { Action } from "./plan/policies.ts"
import * as Indexes from "./plan/indexes.ts"
import type { Snapshot } from "./snapshot.ts"
import type * as Plan from "./plan/plan.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"

const counter = <const L extends string>(name: string, description: string, labels: ReadonlyArray<L>) =>
  Family.counter(`job_controller_${name}`, description, labels)

const syncs = counter("job_syncs_total", "Syncs of Jobs, by completion mode, result and action on pods", [
  "action",
  "completion_mode",
  "result"
])
const finished = counter("jobs_finished_total", "Jobs that have ended, by completion mode, result and reason", [
  "completion_mode",
  "reason",
  "result"
])
const pods = counter("job_pods_finished_total", "Counted pods, by completion mode and result", [
  "completion_mode",
  "result"
])
const policies = counter(
  "pod_failures_handled_by_failure_policy_total",
  "Failed pods that a rule of a pod failure policy matched, by its action",
  ["action"]
)

const durations = Family.histogram(
  "job_controller_job_sync_duration_seconds",
  "Seconds that a sync of a Job took, by completion mode, result and action on pods",
  Family.exponential(0.004, 2, 15),
  ["action", "completion_mode", "result"]
)
const indexes = counter(
  "job_finished_indexes_total",
  "Indexes that have ended, by result and by the backoff limit that applies to them",
  ["backoffLimit", "status"]
)
const creations = counter("job_pods_creation_total", "Created pods and failed creations, by reason and result", [
  "reason",
  "status"
])
const elsewhere = counter("jobs_by_external_controller_total", "Jobs with managedBy, by controller", [
  "controller_name"
])
const tracked = counter(
  "terminated_pods_tracking_finalizer_total",
  "Terminated pods with the tracking finalizer (add), and those of them that lost it or were deleted (delete)",
  ["event"]
)

const skips = Workload.staleSkips("job_controller")

export const families = [syncs, durations, finished, pods, indexes, policies, creations, elsewhere, tracked, skips]

const modeOf = (job: Job): string => (Spec.isIndexed(job) ? "Indexed" : "NonIndexed")

/** One finished sync. */
export interface Synced {
  readonly action: Plan.Action
  readonly result: "success" | "error"
  readonly seconds: number
}

export const synced = (job: Job, { action, result, seconds }: Synced): Effect.Effect<void> => {
  const labels = { completion_mode: modeOf(job), result, action }
  return Effect.andThen(syncs.add(1, labels), durations.observe(seconds, labels))
}

/** Counts a Job that has ended. */
export const ended = (job: Job, result: "succeeded" | "failed", reason: string): Effect.Effect<void> =>
  finished.add(1, { completion_mode: modeOf(job), result, reason })

/** Counts the pods that finished between two statuses; without any, the series exist with zero. Source: pkg/controller/job: recordJobPodFinished. */
export const counted = (job: Job, before: Spec.Status, after: Spec.Status): Effect.Effect<void> => {
  const add = (result: "succeeded" | "failed", more: number): Effect.Effect<void> =>
    pods.add(Math.max(0, more), { completion_mode: modeOf(job), result })
  const succeeded = succeededOf(job, after) - succeededOf(job, before)
  return Effect.all(
    [
      add("succeeded", succeeded),
      add("failed", (after.failed ?? 0) - (before.failed ?? 0)),
      Spec.isIndexed(job)
        ? indexed(job, succeeded, failedIndexes(job, after) - failedIndexes(job, before))
        : Effect.void
    ],
    { discard: true }
  )
}

/** The series of failed indexes exists only once an index has failed. */
const indexed = (job: Job, succeeded: number, failed: number): Effect.Effect<void> => {
  const backoffLimit = Spec.backoffLimitPerIndex(job) === undefined ? "global" : "perIndex"
  const done = indexes.add(Math.max(0, succeeded), { status: "succeeded", backoffLimit })
  return failed > 0 ? Effect.andThen(done, indexes.add(failed, { status: "failed", backoffLimit })) : done
}

const failedIndexes = (job: Job, status: Spec.Status): number =>
  Spec.backoffLimitPerIndex(job) === undefined
    ? 0
    : Indexes.size(Indexes.parse(status.failedIndexes, Spec.indexCount(job)))

/** Of an indexed Job only indexes below `completions` count, in both statuses: lowering `completions` must not offset a new success. */
const succeededOf = (job: Job, { completedIndexes, succeeded = 0 }: Spec.Status): number =>
  Spec.isIndexed(job) ? Indexes.size(Indexes.parse(completedIndexes, Spec.indexCount(job))) : succeeded

export const handled = (actions: ReadonlyArray<Action>): Effect.Effect<void> =>
  Effect.forEach(actions, (action) => policies.add(1, { action }), { discard: true })

/** Counts the pods that were created and those whose creation failed. Source: pkg/controller/job: recordJobPodsCreationTotal. */
export const created = (snapshot: Snapshot, succeeded: number, failed: number): Effect.Effect<void> => {
  const reason = reasonOf(snapshot)
  const add = (status: "succeeded" | "failed", count: number) =>
    count > 0 ? creations.add(count, { reason, status }) : Effect.void
  return Effect.andThen(add("succeeded", succeeded), add("failed", failed))
}

const reasonOf = ({ failed, job, terminating }: Snapshot): string => {
  if (job.spec?.podReplacementPolicy === "Failed" && failed > 0) return "recreate_failed"
  return failed > 0 || terminating.length > 0 ? "recreate_terminating_or_failed" : "new"
}

/** The metrics that triggers count, in the metric registry of the calling context. */
export const watching = Effect.contextWith((context: Context.Context<never>) =>
  Effect.map(Workload.skipping(skips), (onHeld) => ({
    onHeld,
    job: ({ _tag, object }: Delta<Job>): void => {
      const { managedBy } = object.spec ?? {}
      if (_tag === "Created" && managedBy !== undefined && Spec.isManagedElsewhere(object))
        elsewhere.addUnsafe(context, 1, { controller_name: managedBy })
    },
    /** Source: pkg/controller/job: recordFinishedPodWithTrackingFinalizer. */
    pod: (delta: Delta<Pod>): void => {
      const was = isTerminatedAndTracked(
        delta._tag === "Created" ? undefined : delta._tag === "Updated" ? delta.previous : delta.object
      )
      const is = isTerminatedAndTracked(delta._tag === "Deleted" ? undefined : delta.object)
      if (was !== is) tracked.addUnsafe(context, 1, { event: is ? "add" : "delete" })
    }
  }))
)

const isTerminatedAndTracked = (pod: Pod | undefined): boolean =>
  pod !== undefined && PodFacts.isTerminal(pod) && Pods.isTracked(pod)
