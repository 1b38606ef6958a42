/**
 * Which DaemonSets a watch event enqueues: a pod or a revision its controller, or every set that may adopt it; a node
 * the sets whose pods should or should not run there. Triggers run after the stores have changed, and lower
 * expectations. Source: pkg/controller/daemon: addPod, updateNode.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import { type ControllerRevision, DaemonSet, type Node, type Pod } from "../../kube/resources.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Owners from "../shared/workload/owners.ts"
import * as Eligibility from "./plan/eligibility.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"
import type { State } from "./state.ts"

type Watching = Pick<Deps, "sets" | "pods" | "queue">

const owners = ({ sets }: Watching): Owners.Owners<DaemonSet> => ({
  resource: DaemonSet,
  store: sets,
  selects: Spec.selects
})

/** Drops the expectations of a deleted DaemonSet, so that a later one of the same name starts without them. */
export const daemonSet =
  (state: State): Trigger<DaemonSet> =>
  (delta) => {
    const key = Key.of(delta.object)
    const { uid = "" } = delta.object.metadata
    if (delta._tag === "Created" && !delta.initial) state.trust(uid)
    if (delta._tag === "Deleted") {
      state.expectations.forget(key)
      state.distrust(uid)
    }
    return [key]
  }

/** Seconds by which clocks may differ. */
const skew = 1

export const pod = (watching: Watching, { expectations }: State): Trigger<Pod> =>
  Owners.podTrigger({
    owners: owners(watching),
    expectations,
    queue: watching.queue,
    availableAfter: (set) => {
      const seconds = Spec.minReadySeconds(set)
      return seconds > 0 ? seconds + skew : 0
    }
  })

const none: ReadonlyArray<Key.Key> = []

/** A new revision with a controller does not enqueue it: mostly the controller itself created it. */
export const revision =
  (watching: Watching): Trigger<ControllerRevision> =>
  (delta) =>
    delta._tag === "Created" && delta.object.metadata.ownerReferences?.some(({ controller }) => controller) === true
      ? none
      : Owners.concerned(owners(watching), delta).map(Key.of)

/** Nodes of the initial list enqueue nothing: the DaemonSets of the initial list are synced anyway. */
export const node =
  ({ pods, sets }: Pick<Watching, "sets" | "pods">): Trigger<Node> =>
  (delta) => {
    const { object } = delta
    if (delta._tag === "Created" && delta.initial) return none
    if (delta._tag === "Updated" && isSamePlace(delta.previous, object)) return none
    const concerned = sets.list().filter((set) => {
      const isThere = pods.keysByIndex(Pods.byPlace.name, Pods.placeOf(set.metadata, object.metadata.name)).length > 0
      if (delta._tag === "Deleted") return isThere
      const { shouldRun } = judgeOf(set)(object)
      // An existing pod counts as misscheduled on a node that may run it but should not.
      return isThere ? !shouldRun || (set.status?.numberMisscheduled ?? 0) > 0 : shouldRun
    })
    return concerned.map(Key.of)
  }

/** Whether nothing changed that eligibility depends on. */
const isSamePlace = (before: Node, after: Node): boolean =>
  before === after ||
  (Equality.equal({ labels: before.metadata.labels }, { labels: after.metadata.labels }) &&
    Equality.equal(before.spec?.taints ?? [], after.spec?.taints ?? []))

/** Keyed by cached objects, which are immutable. */
const judges = new WeakMap<DaemonSet, ReturnType<typeof Eligibility.judge>>()

const judgeOf = (set: DaemonSet): ReturnType<typeof Eligibility.judge> => {
  let judge = judges.get(set)
  if (judge === undefined) {
    judge = Eligibility.judge(set)
    judges.set(set, judge)
  }
  return judge
}
