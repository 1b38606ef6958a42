/** What the loop of evictions counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"

const deletions = Family.counter(
  "taint_eviction_controller_pod_deletions_total",
  "Pods that were deleted because of a taint of their node"
)

const latency = Family.histogram(
  "taint_eviction_controller_pod_deletion_duration_seconds",
  "Seconds from when a pod was due until it was deleted",
  [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]
)

export const families = [deletions, latency]

export const deleted = (seconds: number): Effect.Effect<void> =>
  Effect.andThen(deletions.add(1), latency.observe(seconds))
