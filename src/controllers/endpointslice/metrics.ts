/** What the slice loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/metricFamily.ts"
import type { Plan, Sizes } from "./plan.ts"

const prefix = "endpoint_slice_controller"

const syncs = Family.counter(`${prefix}_syncs`, "Syncs of Services, by result", ["result"])
const changes = Family.counter(`${prefix}_changes`, "Writes of slices, by operation", ["operation"])
const perSync = Family.histogram(
  `${prefix}_endpointslices_changed_per_sync`,
  "Slices that one sync wrote",
  [0, 1, 2, 5, 10, 20, 50, 100]
)

const endpointBounds = Family.exponential(2, 2, 15)
const added = Family.histogram(
  `${prefix}_endpoints_added_per_sync`,
  "Endpoints that one sync put into slices",
  endpointBounds
)
const removed = Family.histogram(
  `${prefix}_endpoints_removed_per_sync`,
  "Endpoints that one sync took out of slices",
  endpointBounds
)
const endpointsDesired = Family.gauge(`${prefix}_endpoints_desired`, "Endpoints that there should be")
const slicesThere = Family.gauge(`${prefix}_num_endpoint_slices`, "Slices that there are")
const slicesDesired = Family.gauge(
  `${prefix}_desired_endpoint_slices`,
  "Slices that would do, were each as full as it can be"
)

export const families = [syncs, changes, perSync, added, removed, endpointsDesired, slicesThere, slicesDesired]

export const synced = (result: "success" | "error"): Effect.Effect<void> => syncs.add(1, { result })

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> => changes.add(1, { operation })

export const planned = ({ creates, deletes, sizes, updates }: Plan): Effect.Effect<void> =>
  perSync
    .observe(creates.length + updates.length + deletes.length)
    .pipe(Effect.andThen(added.observe(sizes.added)), Effect.andThen(removed.observe(sizes.removed)))

/** What all Services come to. */
export const total = ({ endpoints, fewest, slices }: Omit<Sizes, "added" | "removed">): Effect.Effect<void> =>
  endpointsDesired
    .set(endpoints)
    .pipe(Effect.andThen(slicesThere.set(slices)), Effect.andThen(slicesDesired.set(fewest)))
