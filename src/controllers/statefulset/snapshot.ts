/**
 * The input of one sync: a place for each desired replica, with its pod if there is one, and the condemned pods. Plan and status are computed from
 * the same snapshot. Source: pkg/controller/statefulset: updateStatefulSet.
 */
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../kube/resources.ts"
import type { Template } from "../shared/workload/podControl.ts"
import * as Identity from "./identity.ts"
import * as Spec from "./spec.ts"

/** A template under the name of its revision. */
export interface Revision {
  readonly name: string
  readonly template: Template
}

/** A pod of the set. */
export interface Member {
  readonly ordinal: number
  readonly pod: Pod
}

/** The place of a desired replica. */
export interface Place {
  readonly ordinal: number
  readonly pod: Pod | undefined
}

export interface Seen {
  readonly set: StatefulSet
  /** The revision that all replicas had when the last update was complete. */
  readonly current: Revision
  /** The revision of the present template; equal to `current` if there is no update. */
  readonly update: Revision
  /** All pods that the set has claimed, in any phase. */
  readonly pods: ReadonlyArray<Pod>
  /** The claim of that name in the set's namespace, from the cache. */
  readonly claim: (name: string) => PersistentVolumeClaim | undefined
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Snapshot extends Omit<Seen, "pods"> {
  /** One for each desired replica, lowest ordinal first; a partition counts these indexes. */
  readonly places: ReadonlyArray<Place>
  /** Pods of other ordinals, highest first. */
  readonly condemned: ReadonlyArray<Member>
}

/** Pods without an ordinal in their name are ignored. */
export const take = ({ pods, ...seen }: Seen): Snapshot => {
  const { set } = seen
  const present = new Map<number, Pod>()
  const condemned: Array<Member> = []
  for (const pod of pods) {
    const ordinal = Identity.parse(pod.metadata.name)?.ordinal ?? -1
    if (ordinal < 0) continue
    if (Spec.isInRange(set, ordinal) && !present.has(ordinal)) present.set(ordinal, pod)
    else condemned.push({ ordinal, pod })
  }
  condemned.sort((a, b) => b.ordinal - a.ordinal)
  const places = Array.from({ length: Spec.replicas(set) }, (_, index) => {
    const ordinal = Spec.start(set) + index
    return { ordinal, pod: present.get(ordinal) }
  })
  return { ...seen, places, condemned }
}

/** Whether a replica is missing, not ready for long enough, or terminating. */
export const isUnavailable = ({ now, set }: Snapshot, pod: Pod | undefined): boolean =>
  pod === undefined || Identity.isTerminating(pod) || !Identity.isAvailable(set, pod, now)

/** The number of desired replicas that are unavailable. */
export const unavailable = (snapshot: Snapshot): number =>
  snapshot.places.filter(({ pod }) => isUnavailable(snapshot, pod)).length

/** The revision of a missing replica: `current` below the partition. */
export const revisionFor = ({ current, set, update }: Snapshot, ordinal: number): Revision => {
  if (!Spec.isRolling(set)) return update
  const kept = Spec.partition(set) ?? set.status?.currentReplicas ?? 0
  return ordinal < Spec.start(set) + kept ? current : update
}
