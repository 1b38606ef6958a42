/** What the Job loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import type { Job } from "../../kube/resources.ts"
import * as Family from "../../streams/metricFamily.ts"
import type { Action } from "./plan/failurePolicy.ts"
import * as Indexes from "./plan/indexes.ts"
import type * as Manage from "./plan/manage.ts"
import * as Spec from "./spec.ts"

const counter = <const L extends string>(name: string, description: string, labels: ReadonlyArray<L>) =>
  Family.counter(`job_controller_${name}`, description, labels)

const syncs = counter("job_syncs_total", "Syncs of Jobs, by completion mode, result and what was done to pods", [
  "action",
  "completion_mode",
  "result"
])
const finished = counter("jobs_finished_total", "Jobs that have ended, by completion mode, result and reason", [
  "completion_mode",
  "reason",
  "result"
])
const pods = counter("job_pods_finished_total", "Pods that were counted, by completion mode and result", [
  "completion_mode",
  "result"
])
const policies = counter(
  "pod_failures_handled_by_failure_policy_total",
  "Failed pods that a rule of a failure policy matched, by its action",
  ["action"]
)

export const families = [syncs, finished, pods, policies]

const modeOf = (job: Job): string => (Spec.isIndexed(job) ? "Indexed" : "NonIndexed")

/** One sync, and what it was about. */
export const synced = (job: Job, action: Manage.Action, result: "success" | "error"): Effect.Effect<void> =>
  syncs.add(1, { completion_mode: modeOf(job), result, action })

/** A Job that has ended. */
export const ended = (job: Job, result: "succeeded" | "failed", reason: string): Effect.Effect<void> =>
  finished.add(1, { completion_mode: modeOf(job), result, reason })

/** Pods counted between two states of the status; none makes a series of zero. Source: pkg/controller/job: recordJobPodFinished. */
export const counted = (job: Job, before: Spec.Status, after: Spec.Status): Effect.Effect<void> => {
  const add = (result: "succeeded" | "failed", more: number): Effect.Effect<void> =>
    pods.add(Math.max(0, more), { completion_mode: modeOf(job), result })
  return Effect.andThen(
    add("succeeded", succeededOf(job, after) - succeededOf(job, before)),
    add("failed", (after.failed ?? 0) - (before.failed ?? 0))
  )
}

/** Of an indexed Job, the indexes that it still has: one that left with fewer completions does not offset one that succeeded. */
const succeededOf = (job: Job, { completedIndexes, succeeded = 0 }: Spec.Status): number =>
  Spec.isIndexed(job) ? Indexes.size(Indexes.parse(completedIndexes, Spec.indexCount(job))) : succeeded

export const handled = (actions: ReadonlyArray<Action>): Effect.Effect<void> =>
  Effect.forEach(actions, (action) => policies.add(1, { action }), { discard: true })
