/**
 * Which feature gates are on, as Kubernetes' own programs show it: one series a gate, set once at the start. Source: framework.md M2,
 * k8s.io/component-base/metrics/prometheus/feature.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Gate, Gates } from "../gates.ts"

const enabled = Metric.gauge("kubernetes_feature_enabled", {
  description: "Feature gates, by name and stage: 1 is on, 0 is off"
})

/** A stage that is over has no name there. */
const stageOf = ({ stage }: Gate): string => (stage === "GA" ? "" : stage)

export const publish = (registry: ReadonlyArray<Gate>, gates: Gates): Effect.Effect<void> =>
  Effect.forEach(
    registry,
    (gate) =>
      Metric.update(
        Metric.withAttributes(enabled, { name: gate.name, stage: stageOf(gate) }),
        gates.get(gate.name) === true ? 1 : 0
      ),
    { discard: true }
  )
