/**
 * What workload controllers need to know of a pod: whether it is active, terminating, ready and available, and when it becomes available.
 * Times are milliseconds since 1970; a condition without a readable time counts as never reached. Source: pkg/api/v1/pod: IsPodAvailable.
 */
import type { Pod } from "./resources.ts"
import * as Time from "./time.ts"

export type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number]

/** Its containers have ended for good. */
export const isTerminal = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

/** Counts towards its owner's replicas: neither ended nor being deleted. */
export const isActive = (pod: Pod): boolean => !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined

/** Being deleted, with containers that may still run. */
export const isTerminating = (pod: Pod): boolean => !isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined

export const readyCondition = (pod: Pod): Condition | undefined =>
  pod.status?.conditions?.find((condition) => condition.type === "Ready")

export const isReady = (pod: Pod): boolean => readyCondition(pod)?.status === "True"

/** When the pod became ready; undefined if it is not, or if its condition does not say when. */
export const readySince = (pod: Pod): number | undefined => {
  const condition = readyCondition(pod)
  return condition?.status === "True" ? Time.parse(condition.lastTransitionTime) : undefined
}

/** Ready for at least so many seconds. With none required, being ready is enough. */
export const isAvailable = (pod: Pod, minReadySeconds: number, now: number): boolean => {
  if (!isReady(pod)) return false
  if (minReadySeconds <= 0) return true
  const since = readySince(pod)
  return since !== undefined && since + minReadySeconds * 1000 <= now
}

/** Milliseconds until a ready pod becomes available, always positive; undefined if time alone will not change it. */
export const untilAvailable = (pod: Pod, minReadySeconds: number, now: number): number | undefined => {
  if (minReadySeconds <= 0) return undefined
  const since = readySince(pod)
  if (since === undefined) return undefined
  const left = since + minReadySeconds * 1000 - now
  return left > 0 ? left : undefined
}

/** Milliseconds until the first of the pods becomes available; undefined if time alone will not make one so. */
export const nextAvailability = (
  pods: ReadonlyArray<Pod>,
  minReadySeconds: number,
  now: number
): number | undefined => {
  let next: number | undefined
  for (const pod of pods) {
    const left = untilAvailable(pod, minReadySeconds, now)
    if (left !== undefined && (next === undefined || left < next)) next = left
  }
  return next
}
