/**
 * Processes an object whose owners may be absent: reads the object and its owners from the server, plans, applies.
 * The graph only selects candidates; nothing is deleted because of the graph alone. Source:
 * pkg/controller/garbagecollector: attemptToDeleteItem.
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

  return Effect.fnUntraced(function* (node: Graph.Node) {
    const { identity } = node
    if (node.beingDeleted && node.waitsFor !== "dependents") return
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
}

/** Asks the server unless the owner is known to be absent. */
const judge = Effect.fnUntraced(function* (
  { absentOwners, objects }: Deps,
  dependent: Identity.Identity,
  reference: OwnerReference
) {
  const near = Identity.named(reference, dependent.namespace)
  const global = Identity.named(reference, "")
  if (absentOwners.has(global) || absentOwners.has(near)) return "dangling" as const
  const { clusterScoped, object } = yield* objects.find(near)
  if (object !== undefined) return Plan.standingOf(object)
  absentOwners.add(clusterScoped ? global : near)
  return "dangling" as const
})
