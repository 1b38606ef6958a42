/** What the mirroring loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Plan } from "./plan.ts"

const prefix = "endpoint_slice_mirroring_controller"

const changes = Metric.counter(`${prefix}_changes`, {
  description: "Writes of mirrored slices, by operation",
  incremental: true
})
const boundaries = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
const desired = Metric.histogram(`${prefix}_endpoints_desired_per_sync`, {
  description: "Endpoints that the slices of one sync are to have",
  boundaries
})
const skipped = Metric.histogram(`${prefix}_addresses_skipped_per_sync`, {
  description: "Addresses that one sync left out, because there were too many or because they were none",
  boundaries
})

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(changes, { operation }), 1)

export const planned = (plan: Plan): Effect.Effect<void> =>
  Effect.andThen(Metric.update(desired, plan.desired), Metric.update(skipped, plan.skipped))
