/**
 * The autoscaler's new status. Fields that are not given keep their values, except the metrics. Source:
 * pkg/controller/podautoscaler: setStatus.
 */
import * as Conditions from "../../kube/conditions.ts"
import * as Equality from "../../kube/equality.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Condition, MetricStatus, Status } from "./plan/spec.ts"

export interface StatusChange {
  readonly claims: ReadonlyArray<Claim>
  /** Conditions to remove. */
  readonly dropped?: ReadonlyArray<Type> | undefined
  /** The observed replicas and metrics; undefined if the scale could not be read. */
  readonly observed?: { readonly replicas: number; readonly metrics: ReadonlyArray<MetricStatus> } | undefined
  /** The desired replicas; undefined keeps the former value. */
  readonly desired?: number | undefined
  /** The target's size was changed. */
  readonly isRescaled?: boolean | undefined
  readonly now: number
}

const before = ({ status }: HorizontalPodAutoscaler): Status => status ?? { desiredReplicas: 0 }

/** Undefined if nothing changed. */
export const status = (autoscaler: HorizontalPodAutoscaler, change: StatusChange): Status | undefined => {
  const [old, next] = [before(autoscaler), after(autoscaler, change)]
  return Equality.equal(whole(old), whole(next)) ? undefined : next
}

const after = (
  autoscaler: HorizontalPodAutoscaler,
  { claims, desired, dropped = [], isRescaled, now, observed }: StatusChange
): Status => {
  const old = before(autoscaler)
  const conditions = [...dropped.reduce(remove, set(old.conditions, claims, now))]
  if (observed === undefined) return { ...old, conditions }
  const lastScaleTime = isRescaled === true ? Time.format(now) : old.lastScaleTime
  return {
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
    currentReplicas: observed.replicas,
    desiredReplicas: desired ?? old.desiredReplicas,
    ...(observed.metrics.length === 0 ? {} : { currentMetrics: [...observed.metrics] }),
    conditions
  }
}

/** A zero may be absent. */
const whole = (one: Status) => ({ ...one, currentReplicas: one.currentReplicas ?? 0 })

/**
 * The transition time changes with the status, not with the reason. Source: pkg/controller/podautoscaler:
 * setConditionInList.
 */
type Type = "AbleToScale" | "ScalingActive" | "ScalingLimited" | "ScaledToZero"

/** A condition to set. */
export interface Claim {
  readonly type: Type
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

type All = ReadonlyArray<Condition>

/** Applies the claims in order; a later one of the same type wins. Returns the same list if nothing changes. */
const set = (conditions: All | undefined, claims: ReadonlyArray<Claim>, now: number): All =>
  claims.reduce<All>((all, claim) => Conditions.set(all as Conditions.Conditions, claim, now), conditions ?? nothing)

/** Whether this controller scaled the target to zero. */
export const isScaledToZero = ({ status }: HorizontalPodAutoscaler): boolean =>
  Conditions.isTrue(status?.conditions as Conditions.Conditions | undefined, "ScaledToZero")

/** Returns the same list if there is no such condition. */
const remove = (conditions: All, type: Type): All => Conditions.remove(conditions as Conditions.Conditions, type)

const nothing: All = []
