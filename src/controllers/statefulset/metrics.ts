/** What the StatefulSet loop counts: replicas made, mended and deleted, why those, and what ordered sets wait for. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/metricFamily.ts"
import * as Metrics from "../workload/metrics.ts"
import { type Deed, deeds, type Step } from "./plan/step.ts"

const pods = Family.counter(
  "statefulset_controller_pods_total",
  "Replicas that were asked for, mended or asked to go, by reason",
  ["action", "reason"]
)

const waits = Family.counter(
  "statefulset_controller_waits_total",
  "Syncs of ordered sets that ended before the last replica, by what they wait for",
  ["for"]
)

export const skips = Metrics.staleSkips("statefulset_controller")

export const families = [skips, pods, waits]

/** What is done, and why. */
const kindOf = (deed: Deed): readonly [action: string, reason: string] => {
  switch (deed._tag) {
    case "Create":
      return ["create", "missing"]
    case "Delete":
      return ["delete", deed.why]
    case "Mend":
      return ["update", "drifted"]
    case "Provide":
    case "Disown":
      return ["update", "claims"]
  }
}

export const asked = (step: Step): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const deed of deeds(step)) {
    const kind = kindOf(deed).join(" ")
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const told = Effect.forEach(
    counts,
    ([kind, count]) => {
      const [action = "", reason = ""] = kind.split(" ")
      return pods.add(count, { action, reason })
    },
    { discard: true }
  )
  if (step.waiting === undefined) return told
  return Effect.andThen(told, waits.add(1, { for: step.waiting.for }))
}
