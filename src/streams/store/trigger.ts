/**
 * Maps the change of one object to the keys to reconcile. For an update it maps both the new and the previous object, so that the previous
 * owner of an object is reconciled too. Keys are deduplicated within a delta; the queue deduplicates across deltas. Source: controller-runtime's pkg/handler.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import type { Delta } from "./Store.ts"

/** The keys to reconcile for a delta. */
export type Trigger<in A> = (delta: Delta<A>) => ReadonlyArray<Key.Key>

/** The key of the object itself. */
export const self: Trigger<KubeObject> = (delta) => [Key.of(delta.object)]

/** The keys that a function returns for an object; for an update, for the new and the previous one. */
export const map =
  <A>(keysOf: (object: A, delta: Delta<A>) => ReadonlyArray<Key.Key>): Trigger<A> =>
  (delta) =>
    delta._tag !== "Updated" || delta.previous === delta.object
      ? unique(keysOf(delta.object, delta))
      : unique([...keysOf(delta.object, delta), ...keysOf(delta.previous, delta)])

/** The kind of the owner; a `Resource` is one. */
export interface OwnerKind {
  /** Empty for the core group. Versions do not matter, because a reference may name another version. */
  readonly group: string
  /** `ReplicaSet`. */
  readonly kind: string
  /** The scope of the owner. Default: Namespaced. */
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
 * The owner whose key is the value of an annotation: `namespace/name`, or the name alone for a cluster-scoped owner. For dependents in another
 * namespace than their owner, where owner references are not allowed. The garbage collector does not delete these dependents, so the
 * controller of the owner has to, in a finalizer. A value that is not a key is ignored. Write the annotation with `Key.of(owner)`.
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

/** The part of a store that `index` needs; `Store` and the stores of informers have it. */
export interface Indexed {
  /** The keys of the objects for which the index function returns the value. */
  readonly keysByIndex: (name: string, value: string) => ReadonlyArray<Key.Key>
}

/**
 * The objects of another store that refer to the object: those that the index has for one of the object's values, by default its key. For
 * instance the pods that mount a changed secret.
 */
export const index = <A extends KubeObject>(
  store: Indexed,
  name: string,
  valuesOf: (object: A) => ReadonlyArray<string> = (object) => [Key.of(object)]
): Trigger<A> => map((object) => valuesOf(object).flatMap((value) => store.keysByIndex(name, value)))

/** The keys of all triggers. */
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
