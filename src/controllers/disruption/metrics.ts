/** What the loop of budgets counts. kube-controller-manager counts nothing there but its queues. */
import type * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"

const writes = Family.counter(
  "disruption_controller_status_writes_total",
  "Writes of the status of disruption budgets, by the reason of its condition",
  ["reason"]
)

const resets = Family.counter(
  "disruption_controller_stale_disruptions_total",
  "Pods that were told to go and did not, whose condition was taken back"
)

export const families = [writes, resets]

export const wrote = (reason: string): Effect.Effect<void> => writes.add(1, { reason })

export const takenBack: Effect.Effect<void> = resets.add(1)
