/**
 * The controller's metrics, with the names of kube-controller-manager. Source:
 * pkg/controller/endpointslicemirroring/metrics.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Totals from "../shared/services/totals.ts"
import type { Plan } from "./plan.ts"

const prefix = "endpoint_slice_mirroring_controller"

const changes = Family.counter(`${prefix}_changes`, "Writes of mirrored slices, by operation", ["operation"])

const perSync = (name: string, description: string) =>
  Family.histogram(`${prefix}_${name}_per_sync`, description, Family.exponential(2, 2, 15))

const added = perSync("endpoints_added", "Endpoints that one sync added to slices")
const updated = perSync("endpoints_updated", "Endpoints in slices that one sync changed")
const removed = perSync("endpoints_removed", "Endpoints that one sync removed from slices")
const skipped = perSync("addresses_skipped", "Addresses that one sync skipped because they were too many or invalid")

const duration = Family.histogram(
  `${prefix}_endpoints_sync_duration`,
  "Seconds that a sync of Endpoints took",
  Family.exponential(0.001, 2, 15)
)
const totals = Totals.gauges(prefix, { endpoints: "desired endpoints in mirrored slices", slices: "mirrored slices" })

export const families = [changes, added, updated, removed, skipped, duration, ...totals.families]

/** Times a sync, in whole milliseconds as kube-controller-manager does. */
export const timed = <A, E, R>(sync: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (begun) =>
    Effect.ensuring(
      sync,
      Effect.flatMap(Clock.monotonicTimeNanos, (now) => duration.observe(Number((now - begun) / 1_000_000n) / 1000))
    )
  )

/** Sets the gauges of all mirrored Endpoints together. */
export const total = totals.set

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> => changes.add(1, { operation })

/** Observes the endpoints that a sync will change. */
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
