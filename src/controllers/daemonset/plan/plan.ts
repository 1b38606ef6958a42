/**
 * One pod on each node that should have one and none elsewhere, decided for each node from that node's pods alone. A
 * terminating pod still counts, unless the set surges. Also the types of a step. Source: pkg/controller/daemon:
 * podsShouldBeOnNode.
 */
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as History from "../../shared/revisions/history.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Snapshot from "../snapshot.ts"

/** Why a pod is created. */
export type Need = "missing" | "surge"

/** Why a pod is deleted. */
export type Fault =
  /** The pod is terminal and gets a replacement. */
  | "failed"
  | "succeeded"
  /** Another pod of the node is preferred. */
  | "excess"
  /** Its node should not run it, or does not exist. */
  | "unwanted"
  /** Its template is old. */
  | "outdated"

export interface Creation {
  /** The name of the node. */
  readonly node: string
  readonly why: Need
}

export interface Deletion {
  readonly pod: Pod
  readonly why: Fault
}

export interface Step {
  /** At most one entry per node. */
  readonly create: ReadonlyArray<Creation>
  /** At most one entry per pod, and none for a terminating pod. */
  readonly remove: ReadonlyArray<Deletion>
}

export const isNothing = ({ create, remove }: Step): boolean => create.length === 0 && remove.length === 0

export interface Managed extends Step {
  /** Milliseconds until the next failed pod may be replaced; undefined if there is none. */
  readonly wait: number | undefined
}

/** `wait`: milliseconds until a failed pod on that node may be replaced; zero if now. */
export const decide = (snapshot: Snapshot.Snapshot, wait: (node: string) => number): Managed => {
  const create: Array<Creation> = []
  const remove: Array<Deletion> = []
  const surges = Spec.surges(snapshot.set)
  let soonest: number | undefined
  for (const place of snapshot.places) {
    if (!place.mayStay) {
      remove.push(...leaving(place))
      continue
    }
    if (place.pods.length === 0) {
      if (place.shouldRun) create.push({ node: place.name, why: "missing" })
      continue
    }
    const { ended, held, running } = sort(place, wait)
    remove.push(...ended)
    if (held > 0 && (soonest === undefined || held < soonest)) soonest = held
    if (!surges) remove.push(...faulty(running.slice(1), "excess"))
    else if (running.length === 0 && place.shouldRun) create.push({ node: place.name, why: "missing" })
    else remove.push(...sideBySide(snapshot, running))
  }
  return { create, remove, wait: soonest }
}

const faulty = (pods: ReadonlyArray<Pod>, why: Fault): ReadonlyArray<Deletion> => pods.map((pod) => ({ pod, why }))

/**
 * Pods on a node that should not have them. Pods bound to a node that is gone are left to the pod garbage collector.
 */
const leaving = ({ exists, pods }: Snapshot.Place): ReadonlyArray<Deletion> =>
  faulty(
    pods.filter((pod) => !Snapshot.isTerminating(pod) && (exists || !Pods.isBound(pod))),
    "unwanted"
  )

interface Sorted {
  readonly running: ReadonlyArray<Pod>
  readonly ended: ReadonlyArray<Deletion>
  /** Milliseconds until the failed pod may be replaced; zero if there is none. */
  readonly held: number
}

const sort = ({ name, pods }: Snapshot.Place, wait: (node: string) => number): Sorted => {
  const running: Array<Pod> = []
  const ended: Array<Deletion> = []
  let held = 0
  for (const pod of pods) {
    if (Snapshot.isTerminating(pod)) continue
    if (pod.status?.phase === "Succeeded") ended.push({ pod, why: "succeeded" })
    else if (pod.status?.phase !== "Failed") running.push(pod)
    else {
      // One failed pod at a time, because replacing it raises the delay for the next.
      if (ended.some(({ why }) => why === "failed")) continue
      held = wait(name)
      if (held === 0) ended.push({ pod, why: "failed" })
    }
  }
  return { running, ended, held }
}

/**
 * At most one old available pod beside one new pod that is not available yet. `running` is sorted, the preferred pod
 * first.
 */
const sideBySide = (snapshot: Snapshot.Snapshot, running: ReadonlyArray<Pod>): ReadonlyArray<Deletion> => {
  const isNew = (pod: Pod): boolean => History.hashOf(pod) === snapshot.hash
  const [newest, ...otherNew] = running.filter(isNew)
  const [oldest, ...otherOld] = running.filter((pod) => !isNew(pod))
  const isOver =
    newest !== undefined &&
    oldest !== undefined &&
    (!PodFacts.isReady(oldest) || Snapshot.isAvailable(snapshot, newest))
  return [...faulty([...otherNew, ...otherOld], "excess"), ...(isOver ? faulty([oldest], "outdated") : [])]
}
