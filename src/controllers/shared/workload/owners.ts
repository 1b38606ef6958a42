/**
 * Maps a change of a dependent to the owners to sync, by synchronous reads of the owners' store; triggers run after the stores have changed. A
 * controller reference counts only if the object of that name has that kind and uid. Source: pkg/controller/replicaset: resolveControllerRef.
 */
import * as Key from "../../../kube/Key.ts"
import { isSameMap } from "../../../kube/equality.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Pod } from "../../../kube/resources.ts"
import type { KeyedQueue } from "../../../streams/queue/KeyedQueue.ts"
import type { Delta } from "../../../streams/store/Store.ts"
import * as Store from "../../../streams/store/Store.ts"
import type { Trigger } from "../../../streams/store/trigger.ts"
import type { Expectations } from "./expectations.ts"

/** The owners of one kind. */
export interface Owners<O extends KubeObject> {
  readonly resource: Resource.Resource<O>
  readonly store: Store.Readable<O>
  /** Whether the owner's selector matches the labels. An invalid or empty selector matches nothing. */
  readonly selects: (owner: O, labels: Readonly<Record<string, string>> | undefined) => boolean
}

/** The owner that controls the object, from the cache. */
export const resolve = <O extends KubeObject>(
  { resource, store }: Pick<Owners<O>, "resource" | "store">,
  object: KubeObject
): O | undefined => {
  const reference = Owner.controllerOf(object)
  if (reference === undefined || reference.kind !== resource.kind) return undefined
  const owner = store.get(Key.make(object.metadata.namespace, reference.name))
  return owner?.metadata.uid === reference.uid ? owner : undefined
}

/** Every owner in the namespace whose selector matches an orphan. */
export const matching = <O extends KubeObject>({ selects, store }: Owners<O>, orphan: KubeObject): ReadonlyArray<O> =>
  store
    .byIndex(Store.namespaceIndex, orphan.metadata.namespace ?? "")
    .filter((owner) => selects(owner, orphan.metadata.labels))

/**
 * The owners that a change of a dependent concerns: its owner; its former owner, if the reference changed; for an orphan that was created, or whose
 * labels or owner changed, every owner whose selector matches. The deletion of an orphan concerns no owner.
 */
export const concerned = <O extends KubeObject>(owners: Owners<O>, delta: Delta<KubeObject>): ReadonlyArray<O> => {
  const { object } = delta
  const previous = delta._tag === "Updated" ? delta.previous : undefined
  // The informer delivers an unchanged object in a resync.
  if (previous === object) return []
  const controllerChanged = previous !== undefined && !sameController(previous, object)
  const former = controllerChanged ? resolve(owners, previous) : undefined
  const out = former === undefined ? [] : [former]
  if (Owner.controllerOf(object) !== undefined) {
    const owner = resolve(owners, object)
    if (owner !== undefined && owner !== former) out.push(owner)
    return out
  }
  const mayBeAdopted =
    (delta._tag === "Created" && object.metadata.deletionTimestamp === undefined) ||
    (previous !== undefined && (controllerChanged || !isSameMap(previous.metadata.labels, object.metadata.labels)))
  if (mayBeAdopted) for (const owner of matching(owners, object)) if (owner !== former) out.push(owner)
  return out
}

/** Whether two states of an object have the same controller reference. */
export const sameController = (a: KubeObject, b: KubeObject): boolean => {
  const x = Owner.controllerOf(a)
  const y = Owner.controllerOf(b)
  if (x === undefined || y === undefined) return x === y
  return (
    x.uid === y.uid &&
    x.name === y.name &&
    x.kind === y.kind &&
    x.apiVersion === y.apiVersion &&
    x.blockOwnerDeletion === y.blockOwnerDeletion
  )
}

export interface Watching<O extends KubeObject> {
  readonly owners: Owners<O>
  /** Undefined for loops whose pods have stable names. */
  readonly expectations?: Expectations | undefined
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
  /** After how many seconds the owner of a pod that became ready is synced again; zero for never. */
  readonly availableAfter: (owner: O) => number
}

/**
 * Maps a pod event to the keys of its owners and updates their expectations. A pod counts as deleted once it has a deletion timestamp. Source:
 * pkg/controller/replicaset: addPod, updatePod, deletePod.
 */
export const podTrigger = <O extends KubeObject>(watching: Watching<O>): Trigger<Pod> => {
  const { expectations, owners } = watching
  const gone = (pod: Pod): ReadonlyArray<Key.Key> => {
    const owner = resolve(owners, pod)
    if (owner === undefined) return []
    const key = Key.of(owner)
    expectations?.deletionObserved(key, Key.of(pod))
    return [key]
  }
  return (delta) => {
    const pod = delta.object
    if (delta._tag === "Updated" && delta.previous === pod) return []
    if (delta._tag === "Deleted" || pod.metadata.deletionTimestamp !== undefined) {
      const controllerChanged = delta._tag === "Updated" && !sameController(delta.previous, pod)
      return controllerChanged ? [...gone(pod), ...gone(delta.previous)] : gone(pod)
    }
    const affected = concerned(owners, delta)
    if (delta._tag === "Created" && Owner.controllerOf(pod) !== undefined) {
      for (const owner of affected) expectations?.creationObserved(Key.of(owner))
    }
    syncWhenAvailable(watching, affected, delta)
    return affected.map(Key.of)
  }
}

/** A pod becomes available without an event, `minReadySeconds` after it became ready. */
const syncWhenAvailable = <O extends KubeObject>(
  { availableAfter, queue }: Watching<O>,
  affected: ReadonlyArray<O>,
  delta: Delta<Pod>
): void => {
  if (delta._tag !== "Updated" || !PodFacts.isReady(delta.object) || PodFacts.isReady(delta.previous)) return
  for (const owner of affected) {
    const seconds = availableAfter(owner)
    if (seconds > 0 && Owner.controlledBy(delta.object, owner.metadata.uid))
      queue.addWithUnsafe(Key.of(owner), { after: seconds * 1000 })
  }
}
