/** What the DaemonSet loop counts: pods made and deleted, and why. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Fault, Need } from "./plan/step.ts"

const pods = Metric.counter("daemonset_controller_pods_total", {
  description: "Daemons that were asked for or asked to go, by reason",
  incremental: true
})

export const asked = (action: "create" | "delete", reasons: ReadonlyArray<Need | Fault>): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return Effect.forEach(
    counts,
    ([reason, count]) => Metric.update(Metric.withAttributes(pods, { action, reason }), count),
    { discard: true }
  )
}
