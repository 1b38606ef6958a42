/** What the DaemonSet loop counts: pods made and deleted, and why. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Metrics from "../shared/workload/metrics.ts"
import type { Fault, Need } from "./plan/step.ts"

const pods = Family.counter(
  "daemonset_controller_pods_total",
  "Daemons that were asked for or asked to go, by reason",
  ["action", "reason"]
)

export const skips = Metrics.staleSkips("daemonset_controller")

export const families = [skips, pods]

export const asked = (action: "create" | "delete", reasons: ReadonlyArray<Need | Fault>): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return Effect.forEach(counts, ([reason, count]) => pods.add(count, { action, reason }), { discard: true })
}
