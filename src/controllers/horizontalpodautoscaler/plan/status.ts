/**
 * The status of an autoscaler after a look at it. What is not said stays as it was, except the metrics, which are those of this look.
 * Source: setStatus of kube-controller-manager.
 */
import * as Equality from "../../../kube/equality.ts"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Conditions from "./conditions.ts"
import type { MetricStatus, Status } from "./spec.ts"

export interface News {
  readonly claims: ReadonlyArray<Conditions.Claim>
  /** Conditions that are not said any more. */
  readonly dropped?: ReadonlyArray<Conditions.Type> | undefined
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
  { claims, desired, dropped = [], isRescaled, now, seen }: News
): Status => {
  const old = before(autoscaler)
  const conditions = [...dropped.reduce(Conditions.remove, Conditions.set(old.conditions, claims, now))]
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
export const isNews = (autoscaler: HorizontalPodAutoscaler, status: Status): boolean =>
  !Equality.equal(whole(before(autoscaler)), whole(status))

/** A number that is zero may have been left out. */
const whole = (status: Status) => ({ ...status, currentReplicas: status.currentReplicas ?? 0 })
