/**
 * What is to be done with an object whose owners were looked up on the server, and the next step of a foreground deletion. Pure. Source:
 * pkg/controller/garbagecollector: attemptToDeleteItem.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Graph from "./graph.ts"
import type * as Identity from "./identity.ts"
import type { Propagation } from "./objects.ts"

/**
 * What a reference leads to: an existing owner (`solid`), one in foreground deletion (`waiting`), or none (`dangling`).
 */
export type Standing = "solid" | "waiting" | "dangling"

export interface Judged {
  readonly reference: OwnerReference
  readonly standing: Standing
}

export type Plan =
  | { readonly _tag: "Keep" }
  /** An owner exists: the references to the others are removed. */
  | { readonly _tag: "Strip"; readonly owners: ReadonlyArray<Identity.Uid> }
  /** No owner exists. `unblock`: first clear blockOwnerDeletion, because its owners may be its dependents too. */
  | { readonly _tag: "Delete"; readonly propagation: Propagation; readonly unblock: boolean }

const keep: Plan = { _tag: "Keep" }

/** Decides by all references of a live object; `dependents` are the nodes that refer to it. */
export const plan = (
  object: KubeObject,
  judged: ReadonlyArray<Judged>,
  dependents: ReadonlyArray<Pick<Graph.Node, "waitsFor">>
): Plan => {
  if (judged.length === 0) return keep
  const solid = new Set(judged.filter(({ standing }) => standing === "solid").map(({ reference }) => reference.uid))
  if (solid.size > 0) {
    // A patch identifies references by uid: a solid one must not be removed with a dangling one of the same uid.
    const lost = judged.map(({ reference }) => reference.uid).filter((uid) => !solid.has(uid))
    return lost.length === 0 ? keep : { _tag: "Strip", owners: [...new Set(lost)] }
  }
  if (dependents.length > 0 && judged.some(({ standing }) => standing === "waiting")) {
    // A dependent in foreground deletion may wait for this object: a cycle.
    const unblock = dependents.some(({ waitsFor }) => waitsFor === "dependents")
    return { _tag: "Delete", propagation: "Foreground", unblock }
  }
  return { _tag: "Delete", propagation: propagationOf(object.metadata), unblock: false }
}

/** An earlier deletion's propagation policy is kept. */
export const propagationOf = ({ finalizers = [] }: Graph.Metadata): Propagation => {
  if (finalizers.includes(Graph.orphanFinalizer)) return "Orphan"
  return finalizers.includes(Graph.foregroundFinalizer) ? "Foreground" : "Background"
}

/**
 * The next step of a foreground deletion: finish, or process the blocking dependents that are not in foreground
 * deletion themselves.
 */
export const advance = (
  blocking: ReadonlyArray<Graph.Node>
): { readonly _tag: "Finish" } | { readonly _tag: "Examine"; readonly dependents: ReadonlyArray<Identity.Uid> } =>
  blocking.length === 0
    ? { _tag: "Finish" }
    : {
        _tag: "Examine",
        dependents: blocking.filter(({ waitsFor }) => waitsFor !== "dependents").map(({ identity }) => identity.uid)
      }

/** Source: pkg/controller/garbagecollector: classifyReferences. */
export const standingOf = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): Standing =>
  deletionTimestamp !== undefined && finalizers.includes(Graph.foregroundFinalizer) ? "waiting" : "solid"
