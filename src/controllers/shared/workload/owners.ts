/**
 * From a dependent to the owners that a change concerns: synchronous reads of the owners' store. A controller reference counts only if the object of
 * that name has that kind and uid. Source: pkg/controller/replicaset: resolveControllerRef.
 */
import * as Key from "../../../kube/Key.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Delta } from "../../../streams/store/Store.ts"
import * as Store from "../../../streams/store/Store.ts"

/** The owners of one kind. */
export interface Owners<O extends KubeObject> {
  readonly resource: Resource.Resource<O>
  readonly store: Store.Readable<O>
  /** Whether the owner's selector matches the labels. One that is not usable matches nothing. */
  readonly selects: (owner: O, labels: Readonly<Record<string, string>> | undefined) => boolean
}

/** The owner that controls the object, as the cache knows it. */
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
  // A resync: nothing has changed.
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
    (previous !== undefined && (controllerChanged || !sameLabels(previous.metadata.labels, object.metadata.labels)))
  if (mayBeAdopted) for (const owner of matching(owners, object)) if (owner !== former) out.push(owner)
  return out
}

/** Whether two states name the same controlling owner in the same way. */
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

type Labels = Readonly<Record<string, string>> | undefined

const sameLabels = (a: Labels = {}, b: Labels = {}): boolean => {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
}
