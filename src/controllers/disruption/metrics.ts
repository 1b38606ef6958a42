/** What the loop of budgets counts. kube-controller-manager counts nothing there but its queues. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const writes = Metric.counter("disruption_controller_status_writes_total", {
  description: "Writes of the status of disruption budgets, by the reason of its condition",
  incremental: true
})

const resets = Metric.counter("disruption_controller_stale_disruptions_total", {
  description: "Pods that were told to go and did not, whose condition was taken back",
  incremental: true
})

export const wrote = (reason: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(writes, { reason }), 1)

export const takenBack: Effect.Effect<void> = Metric.update(resets, 1)
