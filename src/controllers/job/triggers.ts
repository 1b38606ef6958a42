/**
 * Maps watch events to queue keys: a Job with a new spec is enqueued at once, changes of pods and statuses after a batch period of one second. Pod
 * events lower the expectations. Pods that no Job will count are enqueued under keys of their own (`orphans.ts`). Triggers run after the stores have
 * changed. Source: pkg/controller/job: addPod, updatePod, deletePod, enqueueSyncJobBatched.
 */
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import { Job, type Pod } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import { LOW } from "../../streams/queue/KeyedQueue.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as Owners from "../shared/workload/owners.ts"
import type { State } from "./state.ts"
import * as Orphans from "./orphans.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** The batch period in milliseconds. Source: pkg/controller/job: SyncJobBatchPeriod. */
export const batch = 1000

const owners = ({ jobs }: Pick<Deps, "jobs">): Owners.Owners<Job> => ({
  resource: Job,
  store: jobs,
  selects: Spec.selects
})

type Watching = Pick<Deps, "jobs" | "pods" | "queue">

const none: ReadonlyArray<Key.Key> = []

export const job =
  ({ pods, queue }: Watching, state: State): Trigger.Trigger<Job> =>
  (delta) => {
    const { object } = delta
    const key = Key.of(object)
    const { uid = "" } = object.metadata
    if (delta._tag === "Deleted") {
      state.forget(key, uid)
      return trackedPods(pods, uid)
    }
    if (delta._tag === "Created") {
      if (!delta.initial) state.trust(uid)
      return [key]
    }
    const { metadata } = delta.previous
    if (metadata.uid !== uid) {
      state.forget(key, metadata.uid ?? "")
      return [key, ...trackedPods(pods, metadata.uid ?? "")]
    }
    if (delta.previous === object || metadata.generation !== object.metadata.generation) return [key]
    queue.addWithUnsafe(key, { after: batch })
    return Spec.isFinished(object) ? trackedPods(pods, uid) : none
  }

/** The keys of the Job's pods that still have the tracking finalizer. */
const trackedPods = (pods: Deps["pods"], uid: string): ReadonlyArray<Key.Key> =>
  pods.byIndex(Indexes.byController.name, uid).filter(Pods.isTracked).map(Orphans.keyOf)

export const pod =
  (watching: Watching, state: State): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    if (delta._tag === "Updated" && delta.previous === object) return none
    observe(watching, state, delta)
    const isDeletion = delta._tag === "Deleted" || object.metadata.deletionTimestamp !== undefined
    const concerned = isDeletion ? former(watching, delta) : Owners.concerned(owners(watching), delta)
    const priority = delta._tag === "Created" && delta.initial ? LOW : undefined
    for (const owner of concerned) watching.queue.addWithUnsafe(Key.of(owner), { after: batch, priority })
    return delta._tag !== "Deleted" && Orphans.isOrphaned(watching, object) ? [Orphans.keyOf(object)] : none
  }

/** The Jobs that control the pod, or controlled it before this event. */
const former = (watching: Watching, delta: Delta<Pod>): ReadonlyArray<Job> => {
  const now = Owners.resolve(owners(watching), delta.object)
  const before = delta._tag === "Updated" ? Owners.resolve(owners(watching), delta.previous) : undefined
  return [now, before].filter((one, i, all): one is Job => one !== undefined && all.indexOf(one) === i)
}

/** Lowers the expectations that the event meets. */
const observe = (watching: Watching, state: State, delta: Delta<Pod>): void => {
  const { object } = delta
  const isGone = delta._tag === "Deleted"
  for (const owner of former(watching, delta)) {
    const key = Key.of(owner)
    if (delta._tag === "Created" && Owner.controlledBy(object, owner.metadata.uid))
      state.expectations.creationObserved(key)
    if (isGone || object.metadata.deletionTimestamp !== undefined)
      state.expectations.deletionObserved(key, Key.of(object))
    if (isGone || !Pods.isTracked(object)) state.releaseObserved(key, Pods.uidOf(object))
  }
}
