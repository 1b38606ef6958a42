/**
 * Maps the change of one object to the keys to reconcile. For an update both the
 * new and the previous object are mapped, so that the old owner of an object is reconciled too. Keys are
 * deduplicated within a delta; across deltas the queue deduplicates. Source: controller-runtime's pkg/handler.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import type { Delta } from "./Store.ts"

/** The keys that a delta asks for. */
export type Trigger<in A> = (delta: Delta<A>) => ReadonlyArray<Key.Key>

/** The object itself. */
export const self: Trigger<KubeObject> = (delta) => [Key.of(delta.object)]

/** Keys that a function yields for an object; for an update, for the new and the previous one. */
export const map =
  <A>(keysOf: (object: A, delta: Delta<A>) => ReadonlyArray<Key.Key>): Trigger<A> =>
  (delta) =>
    delta._tag !== "Updated" || delta.previous === delta.object
      ? unique(keysOf(delta.object, delta))
      : unique([...keysOf(delta.object, delta), ...keysOf(delta.previous, delta)])

/** The kind of owner that is meant; a `Resource` is one. Owners are namespaced unless said otherwise. */
export interface OwnerKind {
  /** Empty for the core group. Versions do not matter: an owner may have been named by another one. */
  readonly group: string
  /** `ReplicaSet`. */
  readonly kind: string
  /** Where owners live. Default: Namespaced. */
  readonly scope?: "Namespaced" | "Cluster" | undefined
}

/**
 * The owners of that group and kind, from the object's owner references: only the controlling one, unless
 * `controllerOnly` is false. An owner lives in the namespace of its dependents, or in none if its kind is cluster-scoped.
 */
export const owner = (
  kind: OwnerKind,
  options: { readonly controllerOnly?: boolean | undefined } = {}
): Trigger<KubeObject> => {
  const controllerOnly = options.controllerOnly !== false
  return map((object) => {
    const references = object.metadata.ownerReferences
    if (references === undefined) return none
    const keys: Array<Key.Key> = []
    for (const reference of references) {
      if (!isOf(kind, reference) || (controllerOnly && reference.controller !== true)) continue
      keys.push(Key.make(kind.scope === "Cluster" ? undefined : object.metadata.namespace, reference.name))
    }
    return keys
  })
}

/**
 * The owner that an annotation of the object names by its key: `namespace/name`, or the name alone for a cluster-scoped owner. For
 * dependents in other namespaces than their owner's, where owner references may not lead; nothing collects those when the owner goes, so
 * its controller has to, in a finalizer. A value that is no such key asks for nothing. Write it with `Key.of(owner)`.
 */
export const annotation = (name: string, kind: Pick<OwnerKind, "scope"> = {}): Trigger<KubeObject> => {
  const isKey = kind.scope === "Cluster" ? clusterKey : namespacedKey
  return map((object) => {
    const annotations = object.metadata.annotations
    const key = annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined
    return key !== undefined && isKey.test(key) ? [key] : none
  })
}

const namespacedKey = /^[^/]+\/[^/]+$/

const clusterKey = /^[^/]+$/

/** What `index` needs of a store: `Store` and the informers of the cache have it. */
export interface Indexed {
  /** The keys of the objects that an index puts under a value. */
  readonly keysByIndex: (name: string, value: string) => ReadonlyArray<Key.Key>
}

/**
 * The objects of another store that refer to the object: those whose index has one of the object's values there, its key
 * unless said otherwise. For instance the pods that mount a changed secret.
 */
export const index = <A extends KubeObject>(
  store: Indexed,
  name: string,
  valuesOf: (object: A) => ReadonlyArray<string> = (object) => [Key.of(object)]
): Trigger<A> => map((object) => valuesOf(object).flatMap((value) => store.keysByIndex(name, value)))

/** Every key that one of the triggers yields. */
export const all =
  <A>(...triggers: ReadonlyArray<Trigger<A>>): Trigger<A> =>
  (delta) =>
    unique(triggers.flatMap((trigger) => trigger(delta)))

const none: ReadonlyArray<never> = []

const unique = (keys: ReadonlyArray<Key.Key>): ReadonlyArray<Key.Key> =>
  keys.length < 2 ? keys : Array.from(new Set(keys))

const isOf = (kind: OwnerKind, reference: OwnerReference): boolean => {
  const slash = reference.apiVersion.indexOf("/")
  return reference.kind === kind.kind && (slash === -1 ? "" : reference.apiVersion.slice(0, slash)) === kind.group
}
