/**
 * The status of a StatefulSet: counts of its replicas and the names of their revisions. Only these fields are set; conditions of other writers stay,
 * and an unchanged status is not written. Source: pkg/controller/statefulset: updateStatus, completeRollingUpdate.
 */
import * as PodFacts from "../../kube/pod.ts"
import type { Pod, StatefulSet } from "../../kube/resources.ts"
import * as Identity from "./identity.ts"
import * as Spec from "./spec.ts"
import type * as Snapshot from "./snapshot.ts"
import type * as Step from "./plan/step.ts"

export type Status = NonNullable<StatefulSet["status"]>

/** The fields that a sync writes. */
export interface Counts {
  readonly observedGeneration?: number
  readonly replicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly currentReplicas: number
  readonly updatedReplicas: number
  readonly currentRevision: string
  readonly updateRevision: string
  readonly collisionCount: number
}

/**
 * `done`: what the sync has changed after the snapshot; new pods count at once, which saves a write for each. `collisions`: the number of hash
 * collisions.
 */
export const count = (snapshot: Snapshot.Snapshot, { gone, made }: Step.Done, collisions: number): Counts => {
  const { current, now, set, update } = snapshot
  const pods = membersOf(snapshot)
  const number = (holds: (pod: Pod) => boolean): number => pods.reduce((sum, pod) => (holds(pod) ? sum + 1 : sum), 0)
  const stays = (pod: Pod): boolean => !Identity.isTerminating(pod) && !gone.has(pod)
  const of = ({ name }: Snapshot.Revision): number =>
    number((pod) => stays(pod) && Identity.revisionOf(pod) === name) + made.filter((one) => one.name === name).length
  const { generation } = set.metadata
  return finished(snapshot, {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas: pods.length + made.length,
    readyReplicas: number(Identity.isReady),
    availableReplicas: number((pod) => Identity.isAvailable(set, pod, now)),
    currentReplicas: of(current),
    updatedReplicas: of(update),
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: collisions
  })
}

const membersOf = ({ condemned, places }: Snapshot.Snapshot): ReadonlyArray<Pod> => [
  ...places.flatMap(({ pod }) => (pod === undefined ? [] : [pod])),
  ...condemned.map(({ pod }) => pod)
]

/** An update is complete when all replicas have the new revision and are ready, and there are no others. */
const finished = ({ set }: Snapshot.Snapshot, counts: Counts): Counts => {
  const desired = Spec.replicas(set)
  const isDone =
    Spec.isRolling(set) &&
    counts.updatedReplicas === desired &&
    counts.readyReplicas === desired &&
    counts.replicas === desired
  return isDone
    ? { ...counts, currentReplicas: counts.updatedReplicas, currentRevision: counts.updateRevision }
    : counts
}

/**
 * The status with these counts; the same object if nothing changes. Absent counts are zero. `isKept`: whether the server stores `availableReplicas`;
 * servers without `minReadySeconds` drop it.
 */
export const status = (before: Status | undefined, counts: Counts, isKept: boolean): Status => {
  const next = { ...before, ...counts }
  const fields = isKept ? [...numbers, "availableReplicas" as const] : numbers
  const isSame =
    before !== undefined &&
    fields.every((field) => (before[field] ?? 0) === (next[field] ?? 0)) &&
    before.currentRevision === next.currentRevision &&
    before.updateRevision === next.updateRevision
  return isSame ? before : next
}

const numbers = [
  "observedGeneration",
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "collisionCount"
] as const

/** Milliseconds until a ready replica becomes available by `minReadySeconds`; undefined if none does. */
export const recheck = (snapshot: Snapshot.Snapshot): number | undefined => {
  const seconds = Spec.minReadySeconds(snapshot.set)
  return seconds <= 0
    ? undefined
    : PodFacts.nextAvailability(membersOf(snapshot).filter(Identity.isReady), seconds, snapshot.now)
}
