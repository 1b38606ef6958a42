/**
 * The bodies of the collector's patches. Each exists twice: strategic, which names only what changes and holds to one object
 * by its uid, and JSON merge, for kinds that know no other, which replaces the list and holds to one state by its version.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import type { Uid } from "./Identity.ts"

/** A change of an object's metadata in both forms; the second is made of the object as it is read for it. */
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

/** Makes every reference one that no foreground deletion waits for. */
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

/** All finalizers but one. The version makes sure that no other writer's finalizer is lost. */
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
