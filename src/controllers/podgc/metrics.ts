/** What the loop that removes pods counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import type { Pod } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import type { Why } from "./plan.ts"

const removals = Family.counter("pod_gc_collector_force_delete_pods_total", "Pods that were to be removed, by why", [
  "namespace",
  "reason"
])

const failures = Family.counter(
  "pod_gc_collector_force_delete_pod_errors_total",
  "Pods that were to be removed and could not be, by why they were to be",
  ["namespace", "reason"]
)

export const families = [removals, failures]

/** Source: podgc/metrics. */
const reasons: Readonly<Record<Why, string>> = {
  terminated: "terminated",
  "terminating-out-of-service": "out-of-service",
  orphaned: "orphaned",
  "terminating-unscheduled": "unscheduled"
}

/** The removal of one pod, and whether it failed. */
export const counted = <A, E, R>(pod: Pod, why: Why, removal: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const labels = { namespace: pod.metadata.namespace ?? "", reason: reasons[why] }
  return Effect.andThen(
    removals.add(1, labels),
    Effect.tapError(removal, () => failures.add(1, labels))
  )
}
