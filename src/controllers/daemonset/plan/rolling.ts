/**
 * How an update goes on: which old pods are deleted, and which nodes get a new pod beside the old one. Only here all nodes are looked at
 * together, because the strategy bounds how many of them are touched at once. Source: spec E.7.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Spec from "../spec.ts"
import * as Snapshot from "./snapshot.ts"
import type { Creation, Deletion, Step } from "./step.ts"

const nothing: Step = { create: [], remove: [] }

/** Nothing for a strategy that leaves the deletion of old pods to the user. */
export const decide = (snapshot: Snapshot.Snapshot): Step => {
  if (!Spec.isRolling(snapshot.set)) return nothing
  const { maxSurge, maxUnavailable } = Spec.bounds(snapshot.set, snapshot.desired)
  return maxSurge > 0 ? surging(snapshot, maxSurge) : replacing(snapshot, maxUnavailable)
}

/** The one living pod of each kind on a node. */
interface Pair {
  readonly old: Pod | undefined
  readonly updated: Pod | undefined
}

/** Undefined if there is more than one of a kind, which is not the update's to mend. */
const pairOf = (snapshot: Snapshot.Snapshot, { pods }: Snapshot.Place): Pair | undefined => {
  const living = pods.filter((pod) => !Snapshot.isTerminating(pod))
  const updated = living.filter((pod) => Snapshot.isUpdated(snapshot, pod))
  const old = living.filter((pod) => !Snapshot.isUpdated(snapshot, pod))
  return updated.length > 1 || old.length > 1 ? undefined : { old: old[0], updated: updated[0] }
}

/** Nodes that count: those that should have a pod, and those that have one. */
const touched = ({ places }: Snapshot.Snapshot): ReadonlyArray<Snapshot.Place> =>
  places.filter(({ pods, shouldRun }) => shouldRun || pods.length > 0)

const outdated = (pod: Pod): Deletion => ({ pod, why: "outdated" })

/** Deletes just so many that no more than `maxUnavailable` nodes are without an available pod. One that does not work may always go. */
const replacing = (snapshot: Snapshot.Snapshot, maxUnavailable: number): Step => {
  const broken: Array<Pod> = []
  const working: Array<Pod> = []
  let unavailable = 0
  for (const place of touched(snapshot)) {
    const { old, updated } = pairOf(snapshot, place) ?? { old: undefined, updated: undefined }
    const only = old === undefined ? updated : updated === undefined ? old : undefined
    if (only !== undefined && Snapshot.isAvailable(snapshot, only)) {
      if (only === old) working.push(only)
      continue
    }
    unavailable++
    if (only !== undefined && only === old) broken.push(only)
  }
  const room = Math.max(0, maxUnavailable - unavailable)
  return { create: [], remove: [...broken, ...working.slice(0, room)].map(outdated) }
}

/** What a walk over the nodes has found. */
interface Surge {
  /** Nodes with an available pod. */
  available: number
  /** Nodes on which a new pod is not available yet. */
  surging: number
  /** Old pods whose work is done by another one, or by nobody. */
  readonly done: Array<Pod>
  /** Old pods that work on nodes that should not run them. */
  readonly sunset: Array<Pod>
  /** Nodes whose old pod does not work: they get a new one whatever the bounds are. */
  readonly urgent: Array<string>
  readonly candidates: Array<string>
}

/** Makes a new pod beside each old one, for `maxSurge` nodes at once, and deletes the old one when the new one works. */
const surging = (snapshot: Snapshot.Snapshot, maxSurge: number): Step => {
  const found: Surge = { available: 0, surging: 0, done: [], sunset: [], urgent: [], candidates: [] }
  for (const place of touched(snapshot)) weigh(snapshot, place, found)
  const { available, candidates, done, sunset, urgent } = found
  const room = Math.max(0, maxSurge - found.surging)
  // An application that moves elsewhere does so when it is there.
  const spare = Math.max(0, available - snapshot.desired)
  const nodes = [...urgent, ...candidates.slice(0, room)]
  return {
    create: nodes.map((node): Creation => ({ node, why: "surge" })),
    remove: [...done, ...sunset.slice(0, spare)].map(outdated)
  }
}

const weigh = (snapshot: Snapshot.Snapshot, place: Snapshot.Place, found: Surge): void => {
  const pair = pairOf(snapshot, place)
  if (pair === undefined) return void found.surging++
  const { old, updated } = pair
  const works = (pod: Pod | undefined): boolean => pod !== undefined && Snapshot.isAvailable(snapshot, pod)
  if (works(old ?? updated)) found.available++
  if (old === undefined) return
  if (updated !== undefined) {
    if (works(updated)) found.done.push(old)
    else found.surging++
  } else if (place.shouldRun) (works(old) ? found.candidates : found.urgent).push(place.name)
  else (works(old) ? found.sunset : found.done).push(old)
}
