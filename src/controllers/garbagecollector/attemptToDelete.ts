/**
 * Processes an object whose owners may be absent: reads the object and its owners from the server, decides, applies.
 * The graph only selects candidates; nothing is deleted because of the graph alone. Source:
 * pkg/controller/garbagecollector: attemptToDeleteItem.
 */
import * as Effect from "effect/Effect"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Graph from "./graph.ts"
import * as Identity from "./identity.ts"
import type { Failure, Objects, Outcome, Propagation } from "./objects.ts"
import * as Patches from "./patches.ts"

/**
 * What a reference leads to: an existing owner (`solid`), one in foreground deletion (`waiting`), or none (`dangling`).
 */
export type Standing = "solid" | "waiting" | "dangling"

export interface Judged {
  readonly reference: OwnerReference
  readonly standing: Standing
}

export type Decision =
  | { readonly _tag: "Keep" }
  /** An owner exists: the references to the others are removed. */
  | { readonly _tag: "Strip"; readonly owners: ReadonlyArray<Identity.Uid> }
  /** No owner exists. `unblock`: first clear blockOwnerDeletion, because its owners may be its dependents too. */
  | { readonly _tag: "Delete"; readonly propagation: Propagation; readonly unblock: boolean }

const keep: Decision = { _tag: "Keep" }

/** Decides by all references of a live object; `dependents` are the nodes that refer to it. */
export const decide = (
  object: KubeObject,
  judged: ReadonlyArray<Judged>,
  dependents: ReadonlyArray<Pick<Graph.Node, "waitsFor">>
): Decision => {
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
  return { _tag: "Delete", propagation: ownPolicy(object.metadata.finalizers ?? []), unblock: false }
}

/** An earlier deletion's propagation policy is kept. */
const ownPolicy = (finalizers: ReadonlyArray<string>): Propagation => {
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

/**
 * Owners that are known to be absent, so that many dependents of a deleted owner cost one request. An entry never
 * becomes wrong, because it contains the uid. The least recently used entry is dropped.
 */
export interface AbsentOwners {
  readonly add: (identity: Identity.Identity) => void
  /** Counts as a use. */
  readonly has: (identity: Identity.Identity) => boolean
}

export const absentOwners = (capacity: number): AbsentOwners => {
  /** In order of use, the most recent last. */
  const known = new Set<string>()
  const use = (key: string): void => {
    known.delete(key)
    known.add(key)
  }
  return {
    add: (identity) => {
      use(Identity.keyOf(identity))
      if (known.size <= capacity) return
      for (const oldest of known) {
        known.delete(oldest)
        return
      }
    },
    has: (identity) => {
      const key = Identity.keyOf(identity)
      if (!known.has(key)) return false
      use(key)
      return true
    }
  }
}

export interface Parts {
  readonly graph: Graph.Graph
  readonly absentOwners: AbsentOwners
  readonly objects: Objects
  /** Applies an event to the graph and enqueues the findings. */
  readonly processEvent: (event: Graph.Event) => void
  readonly examine: (uids: ReadonlyArray<Identity.Uid>) => void
}

/** One attempt. Succeeds when nothing is left to do for the node now. */
export const attempt = (parts: Parts) => {
  const { graph, objects, processEvent } = parts

  const absent = (identity: Identity.Identity, clusterScoped: boolean) =>
    Effect.sync(() => processEvent({ _tag: "Absent", identity, clusterScoped }))

  const act = (
    identity: Identity.Identity,
    object: KubeObject,
    decision: Decision
  ): Effect.Effect<Outcome, Failure> => {
    switch (decision._tag) {
      case "Keep":
        return Effect.succeed("done")
      case "Strip":
        return Effect.map(objects.patch(identity, Patches.strip(identity.uid, decision.owners)), (answer) =>
          answer === "absent" ? answer : "done"
        )
      case "Delete": {
        const { propagation, unblock } = decision
        if (!unblock) return objects.remove(identity, object, propagation)
        return Effect.flatMap(objects.patch(identity, Patches.unblock(object)), (patched) =>
          patched === "absent" ? Effect.succeed(patched) : objects.remove(identity, patched, propagation)
        )
      }
    }
  }

  return Effect.fnUntraced(function* (node: Graph.Node) {
    const { identity } = node
    if (node.beingDeleted && node.waitsFor !== "dependents") return
    const { clusterScoped, object } = yield* objects.find(identity)
    if (object === undefined) return yield* absent(identity, clusterScoped)
    if (node.waitsFor === "dependents") {
      const next = advance(graph.blocking(identity.uid))
      if (next._tag === "Finish") return yield* objects.removeFinalizer(identity, Graph.foregroundFinalizer)
      return parts.examine(next.dependents)
    }
    // The object is already being deleted; the watch event will follow.
    if (object.metadata.deletionTimestamp !== undefined) return
    const judged = yield* Effect.forEach(object.metadata.ownerReferences ?? [], (reference) =>
      Effect.map(judge(parts, identity, reference), (standing) => ({ reference, standing }))
    )
    const decision = decide(object, judged, graph.dependents(identity.uid))
    if ((yield* act(identity, object, decision)) === "absent") yield* absent(identity, clusterScoped)
  })
}

/** Asks the server unless the owner is known to be absent. */
const judge = Effect.fnUntraced(function* (
  { absentOwners, objects }: Parts,
  dependent: Identity.Identity,
  reference: OwnerReference
) {
  const near = Identity.named(reference, dependent.namespace)
  const global = Identity.named(reference, "")
  if (absentOwners.has(global) || absentOwners.has(near)) return "dangling" as const
  const { clusterScoped, object } = yield* objects.find(near)
  if (object !== undefined) return standingOf(object)
  absentOwners.add(clusterScoped ? global : near)
  return "dangling" as const
})
