/**
 * The next step of a DaemonSet: one pod on each node that should have one and none elsewhere, decided for each node from
 * that node's pods alone; where all nodes have what they should, the rolling update goes on. A terminating pod still
 * counts, unless the set surges. A total function. Source: pkg/controller/daemon: podsShouldBeOnNode, manage.
 */
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as History from "../../shared/revisions/history.ts"
import * as Pods from "../pods.ts"
import * as Snapshot from "../snapshot.ts"
import * as Spec from "../spec.ts"
import * as Rolling from "./rolling.ts"
import { type Creation, type Deletion, type Fault, isNothing, type Step } from "./step.ts"

export interface Plan extends Step {
  /** Milliseconds until the next failed pod may be replaced; undefined if there is none. */
  readonly wait: number | undefined
}

/**
 * A rolling update continues only when no node needs anything on its own, because the snapshot does not show the effects
 * of a step. `wait`: milliseconds until a failed pod on that node may be replaced; zero if now.
 */
export const plan = (snapshot: Snapshot.Snapshot, wait: (node: string) => number): Plan => {
  const own = eachNode(snapshot, wait)
  return isNothing(own) ? { ...Rolling.update(snapshot), wait: own.wait } : own
}

/** What each node needs on its own. */
export const eachNode = (snapshot: Snapshot.Snapshot, wait: (node: string) => number): Plan => {
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
