/** What the StatefulSet loop counts: replicas made, mended and deleted, why those, and what ordered sets wait for. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { type Deed, deeds, type Step } from "./plan/step.ts"

const pods = Metric.counter("statefulset_controller_pods_total", {
  description: "Replicas that were asked for, mended or asked to go, by reason",
  incremental: true
})

const waits = Metric.counter("statefulset_controller_waits_total", {
  description: "Syncs of ordered sets that ended before the last replica, by what they wait for",
  incremental: true
})

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
      return Metric.update(Metric.withAttributes(pods, { action, reason }), count)
    },
    { discard: true }
  )
  if (step.waiting === undefined) return told
  return Effect.andThen(told, Metric.update(Metric.withAttributes(waits, { for: step.waiting.for }), 1))
}
