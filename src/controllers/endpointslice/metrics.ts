/** The controller's metrics, with the names of kube-controller-manager. Source: endpointslice/metrics. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Service } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Totals from "../shared/services/totals.ts"
import * as Desired from "./plan/desired.ts"
import type { Plan } from "./plan/plan.ts"

const prefix = "endpoint_slice_controller"

const syncs = Family.counter(`${prefix}_syncs`, "Syncs of Services, by result", ["result"])
const changes = Family.counter(`${prefix}_changes`, "Writes of slices, by operation", ["operation"])
const perSync = Family.histogram(
  `${prefix}_endpointslices_changed_per_sync`,
  "Slices that one sync wrote for an address family, by topology hints and traffic distribution of the Service",
  Family.defaultBounds,
  ["topology", "traffic_distribution"]
)
const preferring = Family.gauge(
  `${prefix}_services_count_by_traffic_distribution`,
  "Number of Services, by traffic distribution",
  ["traffic_distribution"]
)

const endpointBounds = Family.exponential(2, 2, 15)
const added = Family.histogram(
  `${prefix}_endpoints_added_per_sync`,
  "Endpoints that one sync added to the slices of an address family",
  endpointBounds
)
const removed = Family.histogram(
  `${prefix}_endpoints_removed_per_sync`,
  "Endpoints that one sync removed from the slices of an address family",
  endpointBounds
)
const totals = Totals.gauges(prefix, { endpoints: "desired endpoints", slices: "slices" })

export const families = [syncs, changes, perSync, preferring, added, removed, ...totals.families]

export const synced = (result: "success" | "stale" | "error"): Effect.Effect<void> => syncs.add(1, { result })

export const changed = (operation: "create" | "update" | "delete"): Effect.Effect<void> => changes.add(1, { operation })

/** Observes the endpoints that a sync will add and remove. */
export const planned = ({ moves }: Pick<Plan, "moves">): Effect.Effect<void> =>
  Effect.forEach(moves, (one) => Effect.andThen(added.observe(one.added), removed.observe(one.removed)), {
    discard: true
  })

/** Observes the slices that were written for a family. */
export const wrote = (service: Service, count: number): Effect.Effect<void> =>
  perSync.observe(count, {
    topology: Desired.isProportional(service.metadata) ? "Auto" : "Disabled",
    traffic_distribution: Desired.preferenceOf(service) ?? ""
  })

export const preferred = (services: ReadonlyMap<string, number>): Effect.Effect<void> =>
  Effect.forEach(services, ([preference, count]) => preferring.set(count, { traffic_distribution: preference }), {
    discard: true
  })

/**
 * Counts a sync that is postponed because the cache does not show the last sync's writes; in the caller's metric
 * registry.
 */
export const holding = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed(() => syncs.addUnsafe(context, 1, { result: "stale" }))
)

/** Sets the gauges of all Services together. */
export const total = totals.set
