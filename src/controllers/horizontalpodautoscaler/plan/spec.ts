/** Reads an autoscaler's spec, with defaults. Source: pkg/apis/autoscaling/v2: defaults.go. */
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

/** The command line settings, for all autoscalers. Times are milliseconds. */
export interface Settings {
  /** Interval between reconciliations of an autoscaler. */
  readonly period: number
  /** How long the highest recommendation holds. */
  readonly downscaleStabilization: number
  /** The accepted deviation from the target, as a share. */
  readonly tolerance: number
  /** How long after its start the CPU sample of an unready pod is ignored. */
  readonly cpuInitialization: number
  /** How long after its start a pod that becomes unready counts as never ready. */
  readonly initialReadiness: number
  /** The feature gate `HPAScaleToZero`. */
  readonly scalesToZero: boolean
}

/** A limit of the scaling rate. */
export interface Policy {
  readonly type: string
  readonly value: number
  readonly periodSeconds: number
}

/** The scaling rules of one direction. */
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

/** Undefined without a `behavior`, for which other rules apply. */
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

/** The accepted deviations below and above the target, as shares. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

/** The autoscaler's tolerance for a direction, else the command line's. */
export const tolerancesOf = ({ spec }: HorizontalPodAutoscaler, { tolerance }: Settings): Tolerances => {
  const toleranceOf = (rules: Rules | undefined) => {
    const amount = Quantity.parse(rules?.tolerance)
    return amount === undefined ? tolerance : Number(amount.nanos) / 1e9
  }
  return { up: toleranceOf(spec?.behavior?.scaleUp), down: toleranceOf(spec?.behavior?.scaleDown) }
}

export const minReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec?.minReplicas ?? 1

export const maxReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec?.maxReplicas ?? 1

export const metricsOf = ({ spec }: HorizontalPodAutoscaler): ReadonlyArray<MetricSpec> => spec?.metrics ?? []

/** Whether a metric can be measured without pods. */
export const measuresOthers = (autoscaler: HorizontalPodAutoscaler): boolean =>
  metricsOf(autoscaler).some(({ type }) => type === "Object" || type === "External")
