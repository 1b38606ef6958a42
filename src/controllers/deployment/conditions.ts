/**
 * The conditions of a Deployment. A condition with the same status and reason is left unchanged, including times and
 * message; a changed one moves to the end of the list. Source: pkg/controller/deployment/util: SetDeploymentCondition.
 */
import type { Deployment } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Status = NonNullable<Deployment["status"]>
export type Condition = NonNullable<Status["conditions"]>[number]
export type Conditions = ReadonlyArray<Condition>

export const available = "Available"
export const progressing = "Progressing"
export const replicaFailure = "ReplicaFailure"

export const of = (deployment: Deployment): Conditions => deployment.status?.conditions ?? none

const none: Conditions = []

export const get = (conditions: Conditions, type: string): Condition | undefined =>
  conditions.find((condition) => condition.type === type)

/** `now`: milliseconds since 1970. */
export const make = (
  type: string,
  status: "True" | "False" | "Unknown",
  reason: string,
  message: string,
  now: number
): Condition => ({
  type,
  status,
  lastUpdateTime: Time.format(now),
  lastTransitionTime: Time.format(now),
  reason,
  message
})

/** Returns the same list if nothing changes. */
export const set = (conditions: Conditions, condition: Condition): Conditions => {
  const before = get(conditions, condition.type)
  if (before?.status === condition.status && before.reason === condition.reason) return conditions
  return [...remove(conditions, condition.type), inherit(before, condition)]
}

/** `set` for a Deployment; returns the same object if nothing changes. */
export const put = (deployment: Deployment, condition: Condition): Deployment => {
  const conditions = set(of(deployment), condition)
  return conditions === of(deployment) ? deployment : { ...deployment, status: { ...deployment.status, conditions } }
}

/** Like `set`, but replaces an equal condition too; then only `lastUpdateTime` changes. */
export const refresh = (conditions: Conditions, condition: Condition): Conditions => [
  ...remove(conditions, condition.type),
  inherit(get(conditions, condition.type), condition)
]

export const remove = (conditions: Conditions, type: string): Conditions =>
  conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions

/** Keeps `lastTransitionTime` while the status is the same, whatever the reason. */
const inherit = (before: Condition | undefined, condition: Condition): Condition => {
  if (before === undefined || before.status !== condition.status) return condition
  const { lastTransitionTime: _, ...rest } = condition
  return before.lastTransitionTime === undefined ? rest : { ...rest, lastTransitionTime: before.lastTransitionTime }
}
