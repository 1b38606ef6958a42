/**
 * The condition list of a Deployment. A condition that says the same with the same reason is left as it is, times and message
 * included; one that changes goes to the end of the list. Source: spec B.9.
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

/** `now` is in milliseconds since 1970. */
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

/** The very same list if there is nothing to change. */
export const set = (conditions: Conditions, condition: Condition): Conditions => {
  const before = get(conditions, condition.type)
  if (before?.status === condition.status && before.reason === condition.reason) return conditions
  return [...remove(conditions, condition.type), inherit(before, condition)]
}

/** `set`, for the Deployment that has the conditions: the very same one if there is nothing to change. */
export const put = (deployment: Deployment, condition: Condition): Deployment => {
  const conditions = set(of(deployment), condition)
  return conditions === of(deployment) ? deployment : { ...deployment, status: { ...deployment.status, conditions } }
}

/** `set` that renews a condition even if it says the same: then only the time of its last update changes. */
export const refresh = (conditions: Conditions, condition: Condition): Conditions => [
  ...remove(conditions, condition.type),
  inherit(get(conditions, condition.type), condition)
]

export const remove = (conditions: Conditions, type: string): Conditions =>
  conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions

/** Nothing has changed hands while the status is the same, whatever the reason. */
const inherit = (before: Condition | undefined, condition: Condition): Condition => {
  if (before === undefined || before.status !== condition.status) return condition
  const { lastTransitionTime: _, ...rest } = condition
  return before.lastTransitionTime === undefined ? rest : { ...rest, lastTransitionTime: before.lastTransitionTime }
}
