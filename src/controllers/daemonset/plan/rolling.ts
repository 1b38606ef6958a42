/**
 * A rolling update: which old pods are deleted, and which nodes get a new pod beside the old one. This step looks at
 * all nodes together, because `maxUnavailable` and `maxSurge` bound how many are touched at once. Source:
 * pkg/controller/daemon: rollingUpdate.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Spec from "../spec.ts"
import * as Snapshot from "../snapshot.ts"
import { type Creation, type Deletion, nothing, type Step } from "./step.ts"

/** Returns an empty step for the strategy OnDelete. */
export const update = (snapshot: Snapshot.Snapshot): Step => {
  if (!Spec.isRolling(snapshot.set)) return nothing
  const { maxSurge, maxUnavailable } = Spec.bounds(snapshot.set, snapshot.desired)
  return maxSurge > 0 ? surging(snapshot, maxSurge) : replacing(snapshot, maxUnavailable)
}

/** The old and the new pod of one node. */
interface Pair {
  readonly old: Pod | undefined
  readonly updated: Pod | undefined
}

/** Undefined when a node has several old or several new pods: `eachNode` deletes the excess first. */
const pairOf = (snapshot: Snapshot.Snapshot, { pods }: Snapshot.Place): Pair | undefined => {
  const living = pods.filter((pod) => !Snapshot.isTerminating(pod))
  const updated = living.filter((pod) => Snapshot.isUpdated(snapshot, pod))
  const old = living.filter((pod) => !Snapshot.isUpdated(snapshot, pod))
  return updated.length > 1 || old.length > 1 ? undefined : { old: old[0], updated: updated[0] }
}

/** The nodes that should have a pod or have one. */
const touched = ({ places }: Snapshot.Snapshot): ReadonlyArray<Snapshot.Place> =>
  places.filter(({ pods, shouldRun }) => shouldRun || pods.length > 0)

const outdated = (pod: Pod): Deletion => ({ pod, why: "outdated" })

/**
 * Deletes available old pods only while at most `maxUnavailable` nodes lack an available pod. Unavailable old pods are
 * always deleted.
 */
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

/** Counts and candidates over all nodes. */
interface Surge {
  /** Nodes with an available pod. */
  available: number
  /** Nodes on which a new pod is not available yet. */
  surging: number
  /** Old pods with an available replacement, or unavailable ones that no node should run. */
  readonly done: Array<Pod>
  /** Available old pods on nodes that should not run them. */
  readonly sunset: Array<Pod>
  /** Nodes whose old pod is unavailable: these get a new one regardless of `maxSurge`. */
  readonly urgent: Array<string>
  readonly candidates: Array<string>
}

/**
 * Creates a new pod beside each old one, on `maxSurge` nodes at once, and deletes the old one when the new one is
 * available.
 */
const surging = (snapshot: Snapshot.Snapshot, maxSurge: number): Step => {
  const found: Surge = { available: 0, surging: 0, done: [], sunset: [], urgent: [], candidates: [] }
  for (const place of touched(snapshot)) weigh(snapshot, place, found)
  const { available, candidates, done, sunset, urgent } = found
  const room = Math.max(0, maxSurge - found.surging)
  // A pod on a node that should not run it is deleted only when enough other pods are available.
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
