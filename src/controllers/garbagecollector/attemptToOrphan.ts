/**
 * Completes a deletion with orphan propagation: removes the owner reference from every dependent, and then the
 * finalizer from the owner. A dependent that is absent is skipped. Source: pkg/controller/garbagecollector:
 * attemptToOrphanWorker, orphanDependents.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Graph from "./graph.ts"
import type * as Identity from "./identity.ts"
import type { Failure, Objects } from "./objects.ts"
import * as Patches from "./patches.ts"

/** Some dependents still refer to the owner, so its finalizer stays; all are retried. */
export class NotReleased extends Data.TaggedError("NotReleased")<{
  readonly failures: ReadonlyArray<Failure>
  readonly dependents: number
}> {
  override get message(): string {
    const { dependents, failures } = this
    return `${failures.length} of ${dependents} dependents could not be orphaned: ${failures[0]?.message ?? ""}`
  }
}

/** Concurrent patches for one owner. */
const atOnce = 20

export const attempt =
  ({ graph, objects }: { readonly graph: Graph.Graph; readonly objects: Objects }) =>
  (node: Graph.Node): Effect.Effect<void, Failure | NotReleased> =>
    Effect.gen(function* () {
      if (node.waitsFor !== "orphaning") return
      const { identity } = node
      const dependents = graph.dependents(identity.uid)
      const answers = yield* Effect.forEach(
        dependents,
        (dependent) => Effect.result(release(objects, dependent.identity, identity.uid)),
        { concurrency: atOnce }
      )
      const failures = answers.flatMap((answer) => (Result.isFailure(answer) ? [answer.failure] : []))
      if (failures.length > 0) return yield* new NotReleased({ failures, dependents: dependents.length })
      yield* objects.removeFinalizer(identity, Graph.orphanFinalizer)
    })

const release = (objects: Objects, dependent: Identity.Identity, owner: Identity.Uid) =>
  objects.patch(dependent, Patches.strip(dependent.uid, [owner]))
