/**
 * What becomes of an object whose owners are in question: gathered live (the object, and every owner that a reference names),
 * decided purely, carried out. The graph only says whom to look at; no object goes because of what the graph believes.
 */
import * as Effect from "effect/Effect"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import type { AbsentOwners } from "./absentOwners.ts"
import * as Graph from "./graph.ts"
import * as Identity from "./Identity.ts"
import type { Failure, Objects, Outcome, Propagation } from "./Objects.ts"
import * as Patches from "./patches.ts"

/**
 * What a reference leads to: an owner that is there (`solid`), one that is being deleted and waits for its dependents
 * (`waiting`), or nothing (`dangling`).
 */
export type Standing = "solid" | "waiting" | "dangling"

export interface Judged {
  readonly reference: OwnerReference
  readonly standing: Standing
}

export type Decision =
  | { readonly _tag: "Keep" }
  /** It has an owner left: it loses the references to the others. */
  | { readonly _tag: "Strip"; readonly owners: ReadonlyArray<Identity.Uid> }
  /** Nobody owns it any more. `unblock`: first it must not keep its owners waiting, for they may be its dependents too. */
  | { readonly _tag: "Delete"; readonly propagation: Propagation; readonly unblock: boolean }

const keep: Decision = { _tag: "Keep" }

/** Decides about a live object by all of its references; `dependents` are the nodes that refer to it. */
export const decide = (
  object: KubeObject,
  judged: ReadonlyArray<Judged>,
  dependents: ReadonlyArray<Pick<Graph.Node, "waitsFor">>
): Decision => {
  if (judged.length === 0) return keep
  const solid = new Set(judged.filter(({ standing }) => standing === "solid").map(({ reference }) => reference.uid))
  if (solid.size > 0) {
    // A patch tells references apart by uid: one that holds must not go with one that has the same uid and does not.
    const lost = judged.map(({ reference }) => reference.uid).filter((uid) => !solid.has(uid))
    return lost.length === 0 ? keep : { _tag: "Strip", owners: [...new Set(lost)] }
  }
  if (dependents.length > 0 && judged.some(({ standing }) => standing === "waiting")) {
    // A dependent that waits for its own dependents may wait for this one in the end: a cycle.
    const unblock = dependents.some(({ waitsFor }) => waitsFor === "dependents")
    return { _tag: "Delete", propagation: "Foreground", unblock }
  }
  return { _tag: "Delete", propagation: ownPolicy(object.metadata.finalizers ?? []), unblock: false }
}

/** What an earlier deletion has asked for is honoured. */
const ownPolicy = (finalizers: ReadonlyArray<string>): Propagation => {
  if (finalizers.includes(Graph.orphanFinalizer)) return "Orphan"
  return finalizers.includes(Graph.foregroundFinalizer) ? "Foreground" : "Background"
}

/** What a foreground deletion does next: end, or see to the dependents it waits for that do not themselves wait. */
export const advance = (
  blocking: ReadonlyArray<Graph.Node>
): { readonly _tag: "Finish" } | { readonly _tag: "Examine"; readonly dependents: ReadonlyArray<Identity.Uid> } =>
  blocking.length === 0
    ? { _tag: "Finish" }
    : {
        _tag: "Examine",
        dependents: blocking.filter(({ waitsFor }) => waitsFor !== "dependents").map(({ identity }) => identity.uid)
      }

/** How a live owner stands, whatever other finalizers it has. Source: pkg/controller/garbagecollector classifyReferences. */
export const standingOf = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): Standing =>
  deletionTimestamp !== undefined && finalizers.includes(Graph.foregroundFinalizer) ? "waiting" : "solid"

export interface Parts {
  readonly graph: Graph.Graph
  readonly absentOwners: AbsentOwners
  readonly objects: Objects
  /** Applies events to the graph and passes on what it asks for. */
  readonly processEvent: (event: Graph.Event) => void
  readonly examine: (uids: ReadonlyArray<Identity.Uid>) => void
}

/** One attempt. Succeeds when there is nothing to do about the node for now. */
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
    // It is on its way already, and the graph will be told of it.
    if (object.metadata.deletionTimestamp !== undefined) return
    const judged = yield* Effect.forEach(object.metadata.ownerReferences ?? [], (reference) =>
      Effect.map(judge(parts, identity, reference), (standing) => ({ reference, standing }))
    )
    const decision = decide(object, judged, graph.dependents(identity.uid))
    if ((yield* act(identity, object, decision)) === "absent") yield* absent(identity, clusterScoped)
  })
}

/** Asks the server, unless the answer is known to be that there is no such owner. */
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
