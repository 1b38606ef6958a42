/**
 * Processes an object whose owners may be absent: reads the object and its owners from the server, plans, applies.
 * The graph only selects candidates; nothing is deleted because of the graph alone. An object with
 * owners that are all known to be absent is not read: it is deleted on the condition that it is unchanged since it was observed,
 * and read if it is not.
 * Source: pkg/controller/garbagecollector: attemptToDeleteItem.
 */
import * as Effect from "effect/Effect"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Graph from "./graph.ts"
import * as Identity from "./identity.ts"
import type { Failure, Objects, Outcome } from "./objects.ts"
import * as Patches from "./patches.ts"
import * as Plan from "./plan.ts"

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

export interface Deps {
  readonly graph: Graph.Graph
  readonly absentOwners: AbsentOwners
  readonly objects: Objects
  /** Applies an event to the graph and enqueues the findings. */
  readonly processEvent: (event: Graph.Event) => void
  readonly examine: (uids: ReadonlyArray<Identity.Uid>) => void
}

/** One attempt. Succeeds when nothing is left to do for the node now. */
export const attempt = (deps: Deps) => {
  const { graph, objects, processEvent } = deps

  const absent = (identity: Identity.Identity, clusterScoped: boolean) =>
    Effect.sync(() => processEvent({ _tag: "Absent", identity, clusterScoped }))

  const act = (identity: Identity.Identity, object: KubeObject, plan: Plan.Plan): Effect.Effect<Outcome, Failure> => {
    switch (plan._tag) {
      case "Keep":
        return Effect.succeed("done")
      case "Strip":
        return Effect.map(objects.patch(identity, Patches.strip(identity.uid, plan.owners)), (answer) =>
          answer === "absent" ? answer : "done"
        )
      case "Delete": {
        const { propagation, unblock } = plan
        if (!unblock) return objects.remove(identity, object, propagation)
        return Effect.flatMap(objects.patch(identity, Patches.unblock(object)), (patched) =>
          patched === "absent" ? Effect.succeed(patched) : objects.remove(identity, patched, propagation)
        )
      }
    }
  }

  /** Most objects of a cascade, and whether one needs no more than this. */
  const removeUnread = ({ identity, observed, owners, waitsFor }: Graph.Node): Effect.Effect<boolean, Failure> => {
    if (waitsFor !== undefined || observed?.resourceVersion === undefined) return Effect.succeed(false)
    const isAbandoned = owners.length > 0 && owners.every((owner) => isKnownAbsent(deps, identity, owner))
    if (!isAbandoned) return Effect.succeed(false)
    return Effect.flatMap(
      objects.removeUnchanged(identity, { metadata: observed }, Plan.propagationOf(observed)),
      (outcome) =>
        outcome === "absent"
          ? Effect.as(absent(identity, identity.namespace === ""), true)
          : Effect.succeed(outcome === "done")
    )
  }

  const examine = Effect.fnUntraced(function* (node: Graph.Node) {
    const { identity } = node
    const { clusterScoped, object } = yield* objects.find(identity)
    if (object === undefined) return yield* absent(identity, clusterScoped)
    if (node.waitsFor === "dependents") {
      const next = Plan.advance(graph.blocking(identity.uid))
      if (next._tag === "Finish") return yield* objects.removeFinalizer(identity, Graph.foregroundFinalizer)
      return deps.examine(next.dependents)
    }
    // The object is already being deleted; the watch event will follow.
    if (object.metadata.deletionTimestamp !== undefined) return
    const judged = yield* Effect.forEach(object.metadata.ownerReferences ?? [], (reference) =>
      Effect.map(judge(deps, identity, reference), (standing) => ({ reference, standing }))
    )
    const plan = Plan.plan(object, judged, graph.dependents(identity.uid))
    if ((yield* act(identity, object, plan)) === "absent") yield* absent(identity, clusterScoped)
  })

  return (node: Graph.Node): Effect.Effect<void, Failure> =>
    node.beingDeleted && node.waitsFor !== "dependents"
      ? Effect.void
      : Effect.flatMap(removeUnread(node), (isDone) => (isDone ? Effect.void : examine(node)))
}

/** The owner may be in the namespace of the dependent, or in none. */
const isKnownAbsent = ({ absentOwners }: Deps, { namespace }: Identity.Identity, reference: OwnerReference): boolean =>
  absentOwners.has(Identity.named(reference, namespace)) || absentOwners.has(Identity.named(reference, ""))

/** Asks the server unless the owner is known to be absent. */
const judge = Effect.fnUntraced(function* (deps: Deps, dependent: Identity.Identity, reference: OwnerReference) {
  if (isKnownAbsent(deps, dependent, reference)) return "dangling" as const
  const { clusterScoped, object } = yield* deps.objects.find(Identity.named(reference, dependent.namespace))
  if (object !== undefined) return Plan.standingOf(object)
  deps.absentOwners.add(Identity.named(reference, clusterScoped ? "" : dependent.namespace))
  return "dangling" as const
})
