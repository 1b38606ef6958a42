/**
 * The next step of a StatefulSet: replicas are updated and created, then surplus ones are deleted, then outdated ones are replaced. An ordered set
 * does one of these at a time, and none while a lower replica is not available; a parallel set does all that it can. A total function. Source:
 * pkg/controller/statefulset: updateStatefulSet, processReplica, processCondemned.
 */
import * as PodFacts from "../../../kube/pod.ts"
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"
import * as Snapshot from "../snapshot.ts"
import * as Outdated from "./outdated.ts"
import type * as Step from "./step.ts"
import * as Storage from "./storage.ts"

/** The actions for one replica, and whether those after it have to wait. */
interface ReplicaStep {
  readonly actions: ReadonlyArray<Step.Action>
  readonly waiting: Step.Wait | undefined
  /** Whether a pod is created or deleted: an ordered set then does nothing more in this sync. */
  readonly isMove: boolean
}

const proceed: ReplicaStep = { actions: [], waiting: undefined, isMove: false }

const wait = (waiting: Step.Wait, actions: ReplicaStep["actions"] = []): ReplicaStep => ({
  actions,
  waiting,
  isMove: false
})

const move = (action: Step.Action): ReplicaStep => ({ actions: [action], waiting: undefined, isMove: true })

/** `atOnce`: how many replicas may be unavailable during an update. */
export const plan = (snapshot: Snapshot.Snapshot, atOnce: number): Step.Step => {
  const { set } = snapshot
  if (set.metadata.deletionTimestamp !== undefined) return { phases: [], waiting: undefined }
  const isOrdered = Spec.isOrdered(set)
  const walk = isOrdered ? walkInOrder : walkAll
  const kept = walk(snapshot.places, (place) => replica(snapshot, place))
  if (kept.isHalted) return { phases: [kept.actions], waiting: kept.waiting }
  const ownerUpdates = snapshot.condemned.flatMap((member) => claimUpdate(snapshot, member))
  const last = isOrdered ? snapshot.condemned.findLast(({ pod }) => Snapshot.isUnavailable(snapshot, pod)) : undefined
  const condemned = walk(snapshot.condemned, (member) => surplus(snapshot, member, last))
  const phases = [kept.actions, ownerUpdates, condemned.actions]
  if (condemned.isHalted) return { phases, waiting: condemned.waiting }
  const updating = Spec.isRolling(set) ? { unavailable: Snapshot.unavailable(snapshot) } : {}
  return { phases: [...phases, Outdated.choose(snapshot, atOnce)], waiting: undefined, ...updating }
}

interface Walk {
  readonly actions: ReadonlyArray<Step.Action>
  /** Whether the rest of the step is left out. */
  readonly isHalted: boolean
  readonly waiting: Step.Waiting | undefined
}

type Walker = <A extends Snapshot.Place>(members: ReadonlyArray<A>, turn: (member: A) => ReplicaStep) => Walk

const walkInOrder: Walker = (members, turn) => {
  const actions: Array<Step.Action> = []
  for (const member of members) {
    const { actions: own, isMove, waiting } = turn(member)
    actions.push(...own)
    if (waiting !== undefined) return { actions, isHalted: true, waiting: { for: waiting, ordinal: member.ordinal } }
    if (isMove) return { actions, isHalted: true, waiting: undefined }
  }
  return { actions, isHalted: false, waiting: undefined }
}

const walkAll: Walker = (members, turn) => ({
  actions: members.flatMap((member) => turn(member).actions),
  isHalted: false,
  waiting: undefined
})

const replica = (snapshot: Snapshot.Snapshot, { ordinal, pod }: Snapshot.Place): ReplicaStep => {
  const { set } = snapshot
  const storage = Storage.of(snapshot, ordinal, pod)
  if (pod === undefined) {
    // Wait until the garbage collector has deleted them: a new pod would lose its volumes.
    if (storage.isStale) return wait("claims")
    return move({ _tag: "Create", ordinal, revision: Snapshot.revisionFor(snapshot, ordinal), storage })
  }
  if (PodFacts.isTerminal(pod)) {
    // A new pod can have the name only after the deletion.
    return wait("ended", Identity.isTerminating(pod) ? [] : [{ _tag: "Delete", ordinal, pod, why: "ended" }])
  }
  const isProvided = pod.status?.phase !== "Pending" || hasAllClaims(storage)
  const provided: ReplicaStep["actions"] = isProvided ? [] : [{ _tag: "CreateClaims", ordinal, pod, storage }]
  if (Spec.isOrdered(set)) {
    if (Identity.isTerminating(pod)) return wait("terminating", provided)
    if (!Identity.isReady(pod)) return wait("unready", provided)
    if (!Identity.isAvailable(set, pod, snapshot.now)) return wait("unavailable", provided)
  }
  return updateOf(snapshot, { ordinal, pod }, storage) ?? { ...proceed, actions: provided }
}

/** Whether every claim exists with the right owners. A terminating claim is recreated after the event of its deletion. */
const hasAllClaims = ({ ownerUpdates, missing }: Storage.Storage): boolean =>
  missing.length === 0 && ownerUpdates.length === 0

const updateOf = (
  { set }: Snapshot.Snapshot,
  { ordinal, pod }: Snapshot.Member,
  storage: Storage.Storage
): ReplicaStep | undefined => {
  const hasStorage = Identity.hasStorage(set, ordinal, pod)
  if (Identity.isSelf(set, ordinal, pod) && hasStorage && storage.ownerUpdates.length === 0) return undefined
  // A pod that has started had all its claims before.
  const claims = hasStorage && pod.status?.phase !== "Pending" ? { ...storage, missing: [], going: [] } : storage
  return { ...proceed, actions: [{ _tag: "Update", ordinal, pod, storage: claims }] }
}

/** Claims that are deleted with a replica get its pod as owner before the pod is deleted. */
const claimUpdate = (snapshot: Snapshot.Snapshot, { ordinal, pod }: Snapshot.Member): ReadonlyArray<Step.Action> => {
  const storage = Storage.of(snapshot, ordinal, pod)
  return storage.ownerUpdates.length === 0 ? [] : [{ _tag: "UpdateClaims", ordinal, pod, storage }]
}

/**
 * A condemned replica that is not available blocks the others, except `last`: the unavailable one with the lowest ordinal. A terminal pod never
 * becomes available, so it blocks nothing.
 */
const surplus = (
  snapshot: Snapshot.Snapshot,
  member: Snapshot.Member,
  last: Snapshot.Member | undefined
): ReplicaStep => {
  const { ordinal, pod } = member
  if (Identity.isTerminating(pod)) return Spec.isOrdered(snapshot.set) ? wait("terminating") : proceed
  if (Spec.isOrdered(snapshot.set) && member !== last && !PodFacts.isTerminal(pod)) {
    if (!Identity.isReady(pod)) return wait("unready")
    if (!Identity.isAvailable(snapshot.set, pod, snapshot.now)) return wait("unavailable")
  }
  return move({ _tag: "Delete", ordinal, pod, why: "surplus" })
}
