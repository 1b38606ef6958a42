/** What the quota loop counts: statuses that were written, and why. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import type { Reason } from "./plan.ts"

const updates = Family.counter(
  "resourcequota_controller_status_updates_total",
  "Statuses of ResourceQuotas that were written, by reason; one that has several counts for each",
  ["reason"]
)

export const families = [updates]

export const written = (reasons: ReadonlyArray<Reason>): Effect.Effect<void> =>
  Effect.forEach(reasons, (reason) => updates.add(1, { reason }), { discard: true })
