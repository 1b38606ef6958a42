/** What the loop of evictions counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const deletions = Metric.counter("taint_eviction_controller_pod_deletions_total", {
  description: "Pods that were deleted because of a taint of their node",
  incremental: true
})

const latency = Metric.histogram("taint_eviction_controller_pod_deletion_duration_seconds", {
  description: "Seconds from when a pod was due until it was deleted",
  boundaries: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]
})

export const deleted = (seconds: number): Effect.Effect<void> =>
  Effect.andThen(Metric.update(deletions, 1), Metric.update(latency, seconds))
