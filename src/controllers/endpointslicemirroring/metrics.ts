/** What the mirroring loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Plan } from "./plan.ts"

const prefix = "endpoint_slice_mirroring_controller"

const changes = Metric.counter(`${prefix}_changes`, {
  description: "Writes of mirrored slices, by operation",
  incremental: true
})

const perSync = (name: string, description: string) =>
  Metric.histogram(`${prefix}_${name}_per_sync`, {
    description,
    boundaries: Array.from({ length: 15 }, (_, i) => 2 ** (i + 1))
  })

const added = perSync("endpoints_added", "Endpoints that one sync added to slices")
const updated = perSync("endpoints_updated", "Endpoints in slices that one sync changed")
const removed = perSync("endpoints_removed", "Endpoints that one sync took out of slices")
const skipped = perSync("addresses_skipped", "Addresses that one sync left out: there were too many, or they were none")

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(changes, { operation }), 1)

/** Of Endpoints that are mirrored. */
export const planned = (plan: Plan): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.update(added, plan.totals.added),
      Metric.update(updated, plan.totals.updated),
      Metric.update(removed, plan.totals.removed),
      Metric.update(skipped, plan.skipped)
    ],
    { discard: true }
  )
