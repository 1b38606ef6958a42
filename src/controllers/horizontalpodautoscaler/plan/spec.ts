/** Names for the parts of an autoscaler, and what stands where it says nothing. Source: autoscaling/v2, its defaults. */
import * as Quantity from "../../../kube/quantity.ts"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"

type Spec = NonNullable<HorizontalPodAutoscaler["spec"]>
export type Status = NonNullable<HorizontalPodAutoscaler["status"]>
export type MetricSpec = NonNullable<Spec["metrics"]>[number]
export type MetricStatus = NonNullable<Status["currentMetrics"]>[number]
export type MetricTarget = NonNullable<MetricSpec["resource"]>["target"]
export type Condition = NonNullable<Status["conditions"]>[number]
export type Selector = NonNullable<NonNullable<MetricSpec["pods"]>["metric"]["selector"]>
type Rules = NonNullable<NonNullable<Spec["behavior"]>["scaleUp"]>

/** What the command line says, for all autoscalers. Times are milliseconds. */
export interface Settings {
  /** Between two looks at an autoscaler. */
  readonly period: number
  /** For how long the highest recommendation stands. */
  readonly downscaleStabilization: number
  /** How far from the target is near enough, as a share of it. */
  readonly tolerance: number
  /** For how long after its start the processor time of a pod that is not ready says nothing. */
  readonly cpuInitialization: number
  /** For how long after its start a pod that becomes unready is one that never was ready. */
  readonly initialReadiness: number
  /** The gate `HPAScaleToZero`. */
  readonly scalesToZero: boolean
}

/** A limit on how fast replicas may be added or taken away. */
export interface Policy {
  readonly type: string
  readonly value: number
  readonly periodSeconds: number
}

/** How replicas may change in one direction. */
export interface Scaling {
  /** Milliseconds. */
  readonly window: number
  readonly choice: "Max" | "Min" | "Disabled"
  readonly policies: ReadonlyArray<Policy>
}

export interface Behavior {
  readonly up: Scaling
  readonly down: Scaling
}

const everything: Policy = { type: "Percent", value: 100, periodSeconds: 15 }

const scalingOf = (
  rules: Rules | undefined,
  { policies, window }: { readonly policies: ReadonlyArray<Policy>; readonly window: number }
): Scaling => ({
  window: rules?.stabilizationWindowSeconds === undefined ? window : rules.stabilizationWindowSeconds * 1000,
  choice: rules?.selectPolicy === "Min" || rules?.selectPolicy === "Disabled" ? rules.selectPolicy : "Max",
  policies: rules?.policies === undefined || rules.policies.length === 0 ? policies : rules.policies
})

/** Undefined: the rules of an autoscaler that says nothing of its behaviour are others. */
export const behaviorOf = ({ spec }: HorizontalPodAutoscaler, settings: Settings): Behavior | undefined => {
  const behavior = spec?.behavior
  if (behavior === undefined) return undefined
  return {
    up: scalingOf(behavior.scaleUp, {
      window: 0,
      policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, everything]
    }),
    down: scalingOf(behavior.scaleDown, { window: settings.downscaleStabilization, policies: [everything] })
  }
}

/** How far below and above the target is near enough, as shares of it. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

/** What the autoscaler says for a direction, else what the command line says for both. */
export const tolerancesOf = ({ spec }: HorizontalPodAutoscaler, { tolerance }: Settings): Tolerances => {
  const said = (rules: Rules | undefined) => {
    const amount = Quantity.parse(rules?.tolerance)
    return amount === undefined ? tolerance : Number(amount.nanos) / 1e9
  }
  return { up: said(spec?.behavior?.scaleUp), down: said(spec?.behavior?.scaleDown) }
}

export const minReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec?.minReplicas ?? 1

export const maxReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec?.maxReplicas ?? 1

export const metricsOf = ({ spec }: HorizontalPodAutoscaler): ReadonlyArray<MetricSpec> => spec?.metrics ?? []

/** Whether something is measured that is there without pods. */
export const measuresOthers = (autoscaler: HorizontalPodAutoscaler): boolean =>
  metricsOf(autoscaler).some(({ type }) => type === "Object" || type === "External")

/** A selector inside a sentence: `nil`, `&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}`. */
export const describeSelector = (given: Selector | undefined): string => {
  if (given === undefined) return "nil"
  const { matchExpressions = [], matchLabels = {} } = given
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key] ?? ""},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`
}
