/** What the quota loop counts: statuses that were written, and why; kinds that are watched for quotas. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Reason } from "./plan.ts"

const updates = Metric.counter("resourcequota_controller_status_updates_total", {
  description: "Statuses of ResourceQuotas that were written, by reason; one that has several counts for each",
  incremental: true
})

export const written = (reasons: ReadonlyArray<Reason>): Effect.Effect<void> =>
  Effect.forEach(reasons, (reason) => Metric.update(Metric.withAttributes(updates, { reason }), 1), { discard: true })
