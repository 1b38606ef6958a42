/**
 * The pod trigger of loops whose owners create pods: maps a pod event to its owners and updates the expectations. It runs after the stores have
 * changed. Source: pkg/controller/replicaset: addPod, updatePod, deletePod.
 */
import * as Key from "../../../kube/Key.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type { Pod } from "../../../kube/resources.ts"
import type { Delta } from "../../../streams/store/Store.ts"
import type { KeyedQueue } from "../../../streams/queue/KeyedQueue.ts"
import type { Trigger } from "../../../streams/store/trigger.ts"
import type { Expectations } from "./expectations.ts"
import * as Owners from "./owners.ts"

export interface Watching<O extends KubeObject> {
  readonly owners: Owners.Owners<O>
  /** Undefined for loops whose pods have stable names. */
  readonly expectations?: Expectations | undefined
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
  /** Seconds after a pod has become ready at which the owner is synced again; zero for not at all. */
  readonly availableAfter: (owner: O) => number
}

/** A pod counts as deleted once it has a deletion timestamp; later events of it need no sync. */
export const make = <O extends KubeObject>(watching: Watching<O>): Trigger<Pod> => {
  const { expectations, owners } = watching
  const gone = (pod: Pod): ReadonlyArray<Key.Key> => {
    const owner = Owners.resolve(owners, pod)
    if (owner === undefined) return []
    const key = Key.of(owner)
    expectations?.deletionObserved(key, Key.of(pod))
    return [key]
  }
  return (delta) => {
    const pod = delta.object
    if (delta._tag === "Updated" && delta.previous === pod) return []
    if (delta._tag === "Deleted" || pod.metadata.deletionTimestamp !== undefined) {
      const controllerChanged = delta._tag === "Updated" && !Owners.sameController(delta.previous, pod)
      return controllerChanged ? [...gone(pod), ...gone(delta.previous)] : gone(pod)
    }
    const concerned = Owners.concerned(owners, delta)
    if (delta._tag === "Created" && Owner.controllerOf(pod) !== undefined) {
      for (const owner of concerned) expectations?.creationObserved(Key.of(owner))
    }
    wakeWhenAvailable(watching, concerned, delta)
    return concerned.map(Key.of)
  }
}

/** A pod becomes available without an event, `minReadySeconds` after it became ready. */
const wakeWhenAvailable = <O extends KubeObject>(
  { availableAfter, queue }: Watching<O>,
  concerned: ReadonlyArray<O>,
  delta: Delta<Pod>
): void => {
  if (delta._tag !== "Updated" || !PodFacts.isReady(delta.object) || PodFacts.isReady(delta.previous)) return
  for (const owner of concerned) {
    const seconds = availableAfter(owner)
    if (seconds > 0 && Owner.controlledBy(delta.object, owner.metadata.uid))
      queue.addWithUnsafe(Key.of(owner), { after: seconds * 1000 })
  }
}
