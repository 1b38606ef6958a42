/**
 * The next step of a StatefulSet: replicas are mended and made, then those too many go, then old ones are replaced. An ordered set does one of
 * these at a time, and none while a replica before is not available; a parallel one does all that it can. A total function.
 * Source: spec G.8.3.
 */
import * as PodFacts from "../../../kube/pod.ts"
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"
import * as Look from "./snapshot.ts"
import * as Outdated from "./outdated.ts"
import type * as Step from "./step.ts"
import * as Storage from "./storage.ts"

/** What is to be done for one replica, and whether those after it have to wait. */
interface Turn {
  readonly deeds: ReadonlyArray<Step.Deed>
  readonly waiting: Step.Wait | undefined
  /** A pod is made or deleted: in an ordered set that is all for now. */
  readonly isMove: boolean
}

const goOn: Turn = { deeds: [], waiting: undefined, isMove: false }

const wait = (waiting: Step.Wait, deeds: Turn["deeds"] = []): Turn => ({ deeds, waiting, isMove: false })

const move = (deed: Step.Deed): Turn => ({ deeds: [deed], waiting: undefined, isMove: true })

/** `atOnce`: how many old replicas may be unavailable while they are replaced. */
export const decide = (look: Look.Look, atOnce: number): Step.Step => {
  const { set } = look
  if (set.metadata.deletionTimestamp !== undefined) return { phases: [], waiting: undefined }
  const isOrdered = Spec.isOrdered(set)
  const walk = isOrdered ? walkInOrder : walkAll
  const kept = walk(look.places, (place) => replica(look, place))
  if (kept.isHalted) return { phases: [kept.deeds], waiting: kept.waiting }
  const disowned = look.condemned.flatMap((member) => disown(look, member))
  const last = isOrdered ? look.condemned.findLast(({ pod }) => Look.isUnavailable(look, pod)) : undefined
  const condemned = walk(look.condemned, (member) => surplus(look, member, last))
  const phases = [kept.deeds, disowned, condemned.deeds]
  if (condemned.isHalted) return { phases, waiting: condemned.waiting }
  const updating = Spec.isRolling(set) ? { unavailable: Look.unavailable(look) } : {}
  return { phases: [...phases, Outdated.choose(look, atOnce)], waiting: undefined, ...updating }
}

interface Walk {
  readonly deeds: ReadonlyArray<Step.Deed>
  /** Nothing after it may be done. */
  readonly isHalted: boolean
  readonly waiting: Step.Waiting | undefined
}

type Walker = <A extends Look.Place>(members: ReadonlyArray<A>, turn: (member: A) => Turn) => Walk

const walkInOrder: Walker = (members, turn) => {
  const deeds: Array<Step.Deed> = []
  for (const member of members) {
    const { deeds: own, isMove, waiting } = turn(member)
    deeds.push(...own)
    if (waiting !== undefined) return { deeds, isHalted: true, waiting: { for: waiting, ordinal: member.ordinal } }
    if (isMove) return { deeds, isHalted: true, waiting: undefined }
  }
  return { deeds, isHalted: false, waiting: undefined }
}

const walkAll: Walker = (members, turn) => ({
  deeds: members.flatMap((member) => turn(member).deeds),
  isHalted: false,
  waiting: undefined
})

const replica = (look: Look.Look, { ordinal, pod }: Look.Place): Turn => {
  const { set } = look
  const storage = Storage.of(look, ordinal, pod)
  if (pod === undefined) {
    // Until the garbage collector has taken them: a new pod would lose its volumes.
    if (storage.isStale) return wait("claims")
    return move({ _tag: "Create", ordinal, revision: Look.revisionFor(look, ordinal), storage })
  }
  if (PodFacts.isTerminal(pod)) {
    // The name is free only when it is gone.
    return wait("ended", Identity.isGoing(pod) ? [] : [{ _tag: "Delete", ordinal, pod, why: "ended" }])
  }
  const isProvided = pod.status?.phase !== "Pending" || isInPlace(storage)
  const provided: Turn["deeds"] = isProvided ? [] : [{ _tag: "Provide", ordinal, pod, storage }]
  if (Spec.isOrdered(set)) {
    if (Identity.isGoing(pod)) return wait("terminating", provided)
    if (!Identity.isReady(pod)) return wait("unready", provided)
    if (!Identity.isAvailable(set, pod, look.now)) return wait("unavailable", provided)
  }
  return mended(look, { ordinal, pod }, storage) ?? { ...goOn, deeds: provided }
}

/** Whether every claim is there and has the owners it should have. One that is going is made anew when it is gone, which will be told. */
const isInPlace = ({ disowned, missing }: Storage.Storage): boolean => missing.length === 0 && disowned.length === 0

const mended = ({ set }: Look.Look, { ordinal, pod }: Look.Member, storage: Storage.Storage): Turn | undefined => {
  const hasStorage = Identity.hasStorage(set, ordinal, pod)
  if (Identity.isSelf(set, ordinal, pod) && hasStorage && storage.disowned.length === 0) return undefined
  // A pod that has started has had its claims.
  const claims = hasStorage && pod.status?.phase !== "Pending" ? { ...storage, missing: [], going: [] } : storage
  return { ...goOn, deeds: [{ _tag: "Mend", ordinal, pod, storage: claims }] }
}

/** What goes with a replica is known as its own before the replica goes. */
const disown = (look: Look.Look, { ordinal, pod }: Look.Member): ReadonlyArray<Step.Deed> => {
  const storage = Storage.of(look, ordinal, pod)
  return storage.disowned.length === 0 ? [] : [{ _tag: "Disown", ordinal, pod, storage }]
}

/**
 * One that is not available holds the others up, unless it is the last one of its kind: then it is what everybody waits for. One that has ended
 * will never be available, so nobody waits for it.
 * `last`: of the condemned ones that are not available the one with the lowest ordinal.
 */
const surplus = (look: Look.Look, member: Look.Member, last: Look.Member | undefined): Turn => {
  const { ordinal, pod } = member
  if (Identity.isGoing(pod)) return Spec.isOrdered(look.set) ? wait("terminating") : goOn
  if (Spec.isOrdered(look.set) && member !== last && !PodFacts.isTerminal(pod)) {
    if (!Identity.isReady(pod)) return wait("unready")
    if (!Identity.isAvailable(look.set, pod, look.now)) return wait("unavailable")
  }
  return move({ _tag: "Delete", ordinal, pod, why: "surplus" })
}
