/** What the Job loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Job } from "../../kube/resources.ts"
import type { Action } from "./plan/failurePolicy.ts"
import * as Spec from "./spec.ts"

const counter = (name: string, description: string) =>
  Metric.counter(`job_controller_${name}`, { description, incremental: true })

const syncs = counter("job_syncs_total", "Syncs of Jobs, by completion mode, result and what was done to pods")
const finished = counter("jobs_finished_total", "Jobs that have ended, by completion mode, result and reason")
const pods = counter("job_pods_finished_total", "Pods that were counted, by completion mode and result")
const policies = counter(
  "pod_failures_handled_by_failure_policy_total",
  "Failed pods that a rule of a failure policy matched, by its action"
)

const modeOf = (job: Job): string => (Spec.isIndexed(job) ? "Indexed" : "NonIndexed")

export type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted"

/** One sync, and what it did to pods. */
export const synced = (job: Job, action: SyncAction, result: "success" | "error"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(syncs, { completion_mode: modeOf(job), result, action }), 1)

/** A Job that has ended. */
export const ended = (job: Job, result: "succeeded" | "failed", reason: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(finished, { completion_mode: modeOf(job), result, reason }), 1)

/** Pods counted between two states of the status. */
export const counted = (job: Job, before: Spec.Status, after: Spec.Status): Effect.Effect<void> => {
  const tell = (result: "succeeded" | "failed"): Effect.Effect<void> => {
    const more = (after[result] ?? 0) - (before[result] ?? 0)
    return more <= 0
      ? Effect.void
      : Metric.update(Metric.withAttributes(pods, { completion_mode: modeOf(job), result }), more)
  }
  return Effect.andThen(tell("succeeded"), tell("failed"))
}

export const handled = (actions: ReadonlyArray<Action>): Effect.Effect<void> =>
  Effect.forEach(actions, (action) => Metric.update(Metric.withAttributes(policies, { action }), 1), { discard: true })
