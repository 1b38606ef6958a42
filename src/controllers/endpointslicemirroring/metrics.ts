/** What the mirroring loop counts, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/metricFamily.ts"
import type { Plan } from "./plan.ts"

const prefix = "endpoint_slice_mirroring_controller"

const changes = Family.counter(`${prefix}_changes`, "Writes of mirrored slices, by operation", ["operation"])

const perSync = (name: string, description: string) =>
  Family.histogram(`${prefix}_${name}_per_sync`, description, Family.exponential(2, 2, 15))

const added = perSync("endpoints_added", "Endpoints that one sync added to slices")
const updated = perSync("endpoints_updated", "Endpoints in slices that one sync changed")
const removed = perSync("endpoints_removed", "Endpoints that one sync took out of slices")
const skipped = perSync("addresses_skipped", "Addresses that one sync left out: there were too many, or they were none")

export const families = [changes, added, updated, removed, skipped]

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> => changes.add(1, { operation })

/** Of Endpoints that are mirrored. */
export const planned = (plan: Plan): Effect.Effect<void> =>
  Effect.all(
    [
      added.observe(plan.totals.added),
      updated.observe(plan.totals.updated),
      removed.observe(plan.totals.removed),
      skipped.observe(plan.skipped)
    ],
    { discard: true }
  )
