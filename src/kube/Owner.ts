/**
 * Ownership between objects. Any number of references may name an owner; at most one of them is the controlling one, and that is
 * the tree the workload loops live on. Identity is the uid: a name can be given to another object later.
 */
import type { KubeObject, OwnerReference } from "./Meta.ts"
import * as Resource from "./Resource.ts"

/** The reference that marks the managing controller, if there is one. Of several, which validation forbids, the first counts. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined => {
  const references = object.metadata.ownerReferences
  if (references === undefined) return undefined
  for (const reference of references) if (reference.controller === true) return reference
  return undefined
}

/** Whether the object with that uid is the managing controller. */
export const controlledBy = (object: KubeObject, uid: string | undefined): boolean =>
  uid !== undefined && controllerOf(object)?.uid === uid

/** The reference a new dependent carries: controlling, and in the way of a foreground deletion. The owner must be stored: it has a uid. */
export const reference = (resource: Resource.Any, owner: KubeObject): OwnerReference => ({
  apiVersion: Resource.apiVersion(resource),
  kind: resource.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true
})
