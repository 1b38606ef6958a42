/**
 * The counts of a DaemonSet's status. Only the counts are set, so conditions of other writers stay, and an unchanged
 * status is not written. Source: pkg/controller/daemon: updateDaemonSetStatus, storeDaemonSetStatus.
 */
import * as PodFacts from "../../kube/pod.ts"
import type { DaemonSet } from "../../kube/resources.ts"
import * as Spec from "./spec.ts"
import * as Snapshot from "./snapshot.ts"

export type Status = NonNullable<DaemonSet["status"]>

/** `observedGeneration` only when this sync managed the pods. */
export interface Counts {
  readonly currentNumberScheduled: number
  readonly numberMisscheduled: number
  readonly desiredNumberScheduled: number
  readonly numberReady: number
  readonly updatedNumberScheduled: number
  readonly numberAvailable: number
  readonly numberUnavailable: number
  readonly observedGeneration?: number
}

/** Counts the preferred pod of each node. `isManaged`: whether this sync managed the pods. */
export const count = (snapshot: Snapshot.Snapshot, isManaged: boolean): Counts => {
  let current = 0
  let misscheduled = 0
  let ready = 0
  let updated = 0
  let available = 0
  for (const { exists, pods, shouldRun } of snapshot.places) {
    const [pod] = pods
    if (!exists || pod === undefined) continue
    if (!shouldRun) {
      misscheduled++
      continue
    }
    current++
    if (PodFacts.isReady(pod)) ready++
    if (Snapshot.isAvailable(snapshot, pod)) available++
    if (Snapshot.isUpdated(snapshot, pod)) updated++
  }
  const { generation } = snapshot.set.metadata
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: snapshot.desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: snapshot.desired - available,
    ...(isManaged && generation !== undefined ? { observedGeneration: generation } : {})
  }
}

/** Returns the same object when no count differs; an absent count is zero. */
export const status = (before: Status | undefined, counts: Counts): Status => {
  const next = { ...before, ...counts }
  const isSame = before !== undefined && fields.every((field) => (before[field] ?? 0) === (next[field] ?? 0))
  return isSame ? before : next
}

const fields = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "observedGeneration"
] as const

/** Milliseconds until a ready pod becomes available by `minReadySeconds`; undefined if none does. */
export const recheck = ({ now, places, set }: Snapshot.Snapshot): number | undefined => {
  const seconds = Spec.minReadySeconds(set)
  if (seconds <= 0) return undefined
  const pods = places.flatMap((place) => place.pods)
  return PodFacts.nextAvailability(pods, seconds, now)
}
