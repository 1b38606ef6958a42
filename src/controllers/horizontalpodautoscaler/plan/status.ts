/**
 * The status of an autoscaler after a look at it. What is not said stays as it was, except the metrics, which are those of this look.
 * Source: setStatus of kube-controller-manager.
 */
import * as Conditions from "../../../kube/conditions.ts"
import * as Equality from "../../../kube/equality.ts"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import type { Condition, MetricStatus, Status } from "./spec.ts"

export interface StatusChange {
  readonly claims: ReadonlyArray<Claim>
  /** Conditions that are not said any more. */
  readonly dropped?: ReadonlyArray<Type> | undefined
  /** What the target was found to ask for, and what the metrics said; undefined where its scale could not be read. */
  readonly seen?: { readonly replicas: number; readonly metrics: ReadonlyArray<MetricStatus> } | undefined
  /** How many replicas it is to have; what was said before when undefined. */
  readonly desired?: number | undefined
  /** The target was given another size. */
  readonly isRescaled?: boolean | undefined
  readonly now: number
}

const before = ({ status }: HorizontalPodAutoscaler): Status => status ?? { desiredReplicas: 0 }

export const after = (
  autoscaler: HorizontalPodAutoscaler,
  { claims, desired, dropped = [], isRescaled, now, seen }: StatusChange
): Status => {
  const old = before(autoscaler)
  const conditions = [...dropped.reduce(remove, set(old.conditions, claims, now))]
  if (seen === undefined) return { ...old, conditions }
  const lastScaleTime = isRescaled === true ? Time.format(now) : old.lastScaleTime
  return {
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
    currentReplicas: seen.replicas,
    desiredReplicas: desired ?? old.desiredReplicas,
    ...(seen.metrics.length === 0 ? {} : { currentMetrics: [...seen.metrics] }),
    conditions
  }
}

/** Whether there is anything to write. */
export const isChanged = (autoscaler: HorizontalPodAutoscaler, status: Status): boolean =>
  !Equality.equal(whole(before(autoscaler)), whole(status))

/** A number that is zero may have been left out. */
const whole = (status: Status) => ({ ...status, currentReplicas: status.currentReplicas ?? 0 })

/** A condition changes its time with its status, not with its reason. Source: setConditionInList. */
type Type = "AbleToScale" | "ScalingActive" | "ScalingLimited" | "ScaledToZero"

/** What is said of an autoscaler. */
export interface Claim {
  readonly type: Type
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

type All = ReadonlyArray<Condition>

/** All claims after one another; of two about one type the later one stands. The very same list if it says that already. */
const set = (conditions: All | undefined, claims: ReadonlyArray<Claim>, now: number): All =>
  claims.reduce<All>((all, claim) => Conditions.set(all as Conditions.Conditions, claim, now), conditions ?? nothing)

/** Whether the loop itself has taken the last replica away. */
export const isScaledToZero = ({ status }: HorizontalPodAutoscaler): boolean =>
  Conditions.isTrue(status?.conditions as Conditions.Conditions | undefined, "ScaledToZero")

/** The list without that type; the very same list if it is not there. */
const remove = (conditions: All, type: Type): All => Conditions.remove(conditions as Conditions.Conditions, type)

const nothing: All = []
