/** What the slice loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Plan, Sizes } from "./plan.ts"

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

const endpointBoundaries = Array.from({ length: 15 }, (_, i) => 2 ** (i + 1))
const added = Metric.histogram("endpoint_slice_controller_endpoints_added_per_sync", {
  description: "Endpoints that one sync put into slices",
  boundaries: endpointBoundaries
})
const removed = Metric.histogram("endpoint_slice_controller_endpoints_removed_per_sync", {
  description: "Endpoints that one sync took out of slices",
  boundaries: endpointBoundaries
})
const endpointsDesired = Metric.gauge("endpoint_slice_controller_endpoints_desired", {
  description: "Endpoints that there should be"
})
const slicesThere = Metric.gauge("endpoint_slice_controller_num_endpoint_slices", {
  description: "Slices that there are"
})
const slicesDesired = Metric.gauge("endpoint_slice_controller_desired_endpoint_slices", {
  description: "Slices that would do, were each as full as it can be"
})

export const synced = (result: "success" | "error"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(syncs, { result }), 1)

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(changes, { operation }), 1)

export const planned = ({ creates, deletes, sizes, updates }: Plan): Effect.Effect<void> =>
  Metric.update(perSync, creates.length + updates.length + deletes.length).pipe(
    Effect.andThen(Metric.update(added, sizes.added)),
    Effect.andThen(Metric.update(removed, sizes.removed))
  )

/** What all Services come to. */
export const total = ({ endpoints, fewest, slices }: Omit<Sizes, "added" | "removed">): Effect.Effect<void> =>
  Metric.update(endpointsDesired, endpoints).pipe(
    Effect.andThen(Metric.update(slicesThere, slices)),
    Effect.andThen(Metric.update(slicesDesired, fewest))
  )
