/** What the slice loop counts, under the names that dashboards of kube-controller-manager know. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Plan } from "./plan.ts"

const syncs = Metric.counter("endpoint_slice_controller_syncs", {
  description: "Syncs of Services, by result",
  incremental: true
})
const changes = Metric.counter("endpoint_slice_controller_changes", {
  description: "Writes of slices, by operation",
  incremental: true
})
const perSync = Metric.histogram("endpoint_slice_controller_endpointslices_changed_per_sync", {
  description: "Slices that one sync wrote",
  boundaries: [0, 1, 2, 5, 10, 20, 50, 100]
})

export const synced = (result: "success" | "error"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(syncs, { result }), 1)

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(changes, { operation }), 1)

export const planned = ({ creates, deletes, updates }: Plan): Effect.Effect<void> =>
  Metric.update(perSync, creates.length + updates.length + deletes.length)
