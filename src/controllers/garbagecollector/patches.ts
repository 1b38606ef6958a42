/**
 * The patches of the garbage collector in two forms: a strategic merge patch, which contains only the change and has
 * the uid as its precondition, and a JSON merge patch for resources without strategic merge, which replaces the list
 * and has the resourceVersion as its precondition. Source: pkg/controller/garbagecollector: patch.go.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import type { Uid } from "./identity.ts"

/** A metadata change in both forms; the merge patch is made from the live object. */
export interface Change {
  readonly strategic: Patch.Patch
  readonly merge: (live: KubeObject) => Patch.Patch
}

/** Removes the references to these owners. */
export const strip = (dependent: Uid, owners: ReadonlyArray<Uid>): Change => ({
  strategic: Patch.strategic({
    metadata: { uid: dependent, ownerReferences: owners.map((uid) => ({ $patch: "delete", uid })) }
  }),
  merge: (live) => replaceOwners(live, (references) => references.filter(({ uid }) => !owners.includes(uid)))
})

/** Sets `blockOwnerDeletion` to false in every reference. */
export const unblock = (dependent: KubeObject): Change => ({
  strategic: Patch.strategic({
    metadata: {
      uid: dependent.metadata.uid,
      ownerReferences: (dependent.metadata.ownerReferences ?? [])
        .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
        .map(unblocked)
    }
  }),
  merge: (live) => replaceOwners(live, (references) => references.map(unblocked))
})

/** Removes one finalizer. The resourceVersion protects finalizers of other writers. */
export const withoutFinalizer = (live: KubeObject, finalizer: string): Patch.Patch =>
  Patch.merge({
    metadata: {
      resourceVersion: live.metadata.resourceVersion,
      finalizers: (live.metadata.finalizers ?? []).filter((one) => one !== finalizer)
    }
  })

const unblocked = (reference: OwnerReference): OwnerReference => ({ ...reference, blockOwnerDeletion: false })

const replaceOwners = (
  { metadata }: KubeObject,
  change: (references: ReadonlyArray<OwnerReference>) => ReadonlyArray<OwnerReference>
): Patch.Patch =>
  Patch.merge({
    metadata: { resourceVersion: metadata.resourceVersion, ownerReferences: change(metadata.ownerReferences ?? []) }
  })
