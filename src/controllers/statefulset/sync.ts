/**
 * One sync of a StatefulSet: claim pods, update the history, take the snapshot, decide (`plan/`), apply, write the status. This file orders the
 * steps and handles failures between them. Source: pkg/controller/statefulset: UpdateStatefulSet.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import { type Pod, StatefulSet } from "../../kube/resources.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as KeptField from "../shared/workload/statusWriter.ts"
import type * as Claims from "./claims.ts"
import * as History from "./history.ts"
import * as Identity from "./identity.ts"
import * as Metrics from "./metrics.ts"
import * as Decide from "./plan/plan.ts"
import * as Snapshot from "./snapshot.ts"
import * as Status from "./status.ts"
import * as Step from "./plan/step.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"
import * as Apply from "./apply.ts"

export type Failure = History.Failure | Claims.ReplicaError

export const sync = (context: Apply.Apply) => {
  const writeStatus = statusWriter(context.deps)
  return Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome | void, Failure> {
    const { deps } = context
    const set = deps.sets.get(key)
    if (set === undefined) return yield* Metrics.removeGauges(key)
    if (Spec.selectorOf(set) === undefined) return
    const history = yield* History.syncRevisions(deps, set)
    const pods = yield* claim(deps, set)
    const now = yield* Clock.currentTimeMillis
    const { current, update } = history
    const { namespace } = set.metadata
    const find = (name: string) => deps.claims.get(Key.make(namespace, name))
    const snapshot = Snapshot.take({ set, current, update, pods, claim: find, now })
    const step = Decide.decide(snapshot, context.severalAtOnce ? Spec.maxUnavailable(set) : 1)
    if (context.severalAtOnce) yield* Metrics.record(set, step)
    const failure = yield* Apply.carryOut(context, set, step)
    const done = failure === undefined ? Step.outcome(step) : Step.nothing
    const written = yield* Effect.result(writeStatus(snapshot, Status.count(snapshot, done, history.collisions)))
    const cleaned = yield* Effect.result(isTerminating(set) ? Effect.void : History.cleanUp(deps, set, history))
    if (failure !== undefined) return yield* failure
    if (written._tag === "Failure") return yield* written.failure
    if (cleaned._tag === "Failure") return yield* cleaned.failure
    const delay = Status.recheck(snapshot)
    return delay === undefined ? Reconcile.done : Reconcile.after(delay)
  })
}

const isTerminating = ({ metadata }: StatefulSet): boolean => metadata.deletionTimestamp !== undefined

/** A pod belongs to the set if selector and name match. */
const claim = (deps: Deps, set: StatefulSet): Effect.Effect<ReadonlyArray<Pod>, Adopt.ClaimError> =>
  Adopt.claim(
    {
      owner: set,
      resource: StatefulSet,
      matches: ({ metadata }: Pod) =>
        Spec.selects(set, metadata.labels) && Identity.parse(metadata.name)?.parent === set.metadata.name,
      live: deps.live(set),
      patch: deps.patch
    },
    [
      ...deps.pods.byIndex(Indexes.byController.name, set.metadata.uid ?? ""),
      ...deps.pods.byIndex(Indexes.orphans.name, set.metadata.namespace ?? "")
    ]
  )

/** Writes the counts if they changed; a failed write is retried once on the live object. */
const statusWriter = (deps: Deps) => {
  const availableReplicas = KeptField.make()
  const write = (onto: StatefulSet, counts: Status.Counts): Effect.Effect<void, ApiError> => {
    const status = Status.withCounts(onto.status, counts, availableReplicas.isKept())
    if (status === onto.status) return Effect.void
    return Effect.map(deps.updateStatus({ ...onto, status }), (answer) => {
      // The server omits zero, so a zero does not show whether it stores the field.
      if (counts.availableReplicas > 0)
        availableReplicas.answered(counts.availableReplicas, answer.status?.availableReplicas)
    })
  }
  return ({ set }: Snapshot.Snapshot, counts: Status.Counts): Effect.Effect<void, ApiError> =>
    Effect.catch(write(set, counts), (error) =>
      Effect.flatMap(deps.live(set), (fresh) =>
        fresh.metadata.uid === set.metadata.uid ? write(fresh, counts) : Effect.fail(error)
      )
    )
}
