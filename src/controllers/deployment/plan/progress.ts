/**
 * Whether a rollout progresses: the Progressing condition, and when to check again for a timeout. Source:
 * pkg/controller/deployment: syncRolloutStatus, requeueStuckDeployment; deployment/util: DeploymentProgressing,
 * DeploymentTimedOut.
 */
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Bounds from "./bounds.ts"
import * as Conditions from "../conditions.ts"

export const reasons = {
  available: "NewReplicaSetAvailable",
  created: "NewReplicaSetCreated",
  createFailed: "ReplicaSetCreateError",
  found: "FoundNewReplicaSet",
  paused: "DeploymentPaused",
  resumed: "DeploymentResumed",
  timedOut: "ProgressDeadlineExceeded",
  updated: "ReplicaSetUpdated"
} as const

/** The value that means no deadline. */
const unlimited = 2 ** 31 - 1

/** Seconds; undefined without a deadline. */
export const deadline = (deployment: Deployment): number | undefined => {
  const seconds = deployment.spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === unlimited ? undefined : seconds
}

/** All replicas are updated and available, and the current generation is observed. */
export const isComplete = (deployment: Deployment, status: Conditions.Status): boolean => {
  const replicas = Bounds.replicasOf(deployment)
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

/** Since the previous status: more updated, fewer old, more ready or more available replicas. */
export const isProgressing = (before: Conditions.Status, after: Conditions.Status): boolean =>
  (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
  oldReplicas(after) < oldReplicas(before) ||
  (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
  (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)

const oldReplicas = (status: Conditions.Status): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)

/**
 * Milliseconds until the deadline, negative after it. A condition without `lastUpdateTime` counts as updated in 1970.
 */
const left = (seconds: number, condition: Conditions.Condition, now: number): number =>
  (Time.parse(condition.lastUpdateTime) ?? 0) + seconds * 1000 - now

const isTimedOut = (seconds: number, condition: Conditions.Condition | undefined, now: number): boolean => {
  if (condition === undefined || condition.reason === reasons.available) return false
  return condition.reason === reasons.timedOut || left(seconds, condition, now) < 0
}

/** The status with the Progressing condition, compared with the stored status. */
export const judge = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  status: Conditions.Status,
  now: number
): Conditions.Status => {
  const conditions = status.conditions ?? []
  const seconds = deadline(deployment)
  if (seconds === undefined) {
    return { ...status, conditions: Conditions.remove(conditions, Conditions.progressing) }
  }
  const stored = deployment.status ?? {}
  const before = Conditions.get(Conditions.of(deployment), Conditions.progressing)
  const isOver = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && before?.reason === reasons.available
  if (isOver) return status
  const subject =
    current === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(current.metadata.name)}`
  const condition = (verdict: "True" | "False", reason: string, words: string) =>
    Conditions.make(Conditions.progressing, verdict, reason, `${subject} ${words}`, now)
  if (isComplete(deployment, status)) {
    const done = condition("True", reasons.available, "has successfully progressed.")
    return { ...status, conditions: Conditions.set(conditions, done) }
  }
  if (isProgressing(stored, status)) {
    const moving = condition("True", reasons.updated, "is progressing.")
    return { ...status, conditions: Conditions.refresh(conditions, moving) }
  }
  if (isTimedOut(seconds, Conditions.get(conditions, Conditions.progressing), now)) {
    const late = condition("False", reasons.timedOut, "has timed out progressing.")
    return { ...status, conditions: Conditions.set(conditions, late) }
  }
  return status
}

/** When to check again: after milliseconds, as soon as the rate limit allows, or not by time (undefined). */
export type Recheck = { readonly _tag: "After"; readonly millis: number } | { readonly _tag: "Soon" } | undefined

/**
 * For an unchanged status. A completed rollout cannot time out, so it is not checked again: its deadline is long past,
 * and checking at once would loop forever.
 */
export const recheck = (deployment: Deployment, status: Conditions.Status, now: number): Recheck => {
  const condition = Conditions.get(Conditions.of(deployment), Conditions.progressing)
  const seconds = deadline(deployment)
  if (seconds === undefined || condition === undefined || isComplete(deployment, status)) return undefined
  if (condition.reason === reasons.timedOut || condition.reason === reasons.available) return undefined
  const wait = left(seconds, condition, now)
  // One second more, because timestamps have whole seconds.
  return wait < 1000 ? { _tag: "Soon" } : { _tag: "After", millis: wait + 1000 }
}

/** Sets the Progressing condition to paused or resumed; returns the same object if nothing changes. */
export const pause = (deployment: Deployment, now: number): Deployment => {
  const reason = Conditions.get(Conditions.of(deployment), Conditions.progressing)?.reason
  if (deadline(deployment) === undefined || reason === reasons.timedOut) return deployment
  const isPaused = deployment.spec?.paused === true
  if (isPaused === (reason === reasons.paused)) return deployment
  return Conditions.put(
    deployment,
    isPaused
      ? Conditions.make(Conditions.progressing, "Unknown", reasons.paused, "Deployment is paused", now)
      : Conditions.make(Conditions.progressing, "Unknown", reasons.resumed, "Deployment is resumed", now)
  )
}
