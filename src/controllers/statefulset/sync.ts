/**
 * One sync of a StatefulSet: claim pods, update the history, take the snapshot, decide (`plan/`), apply, write the status. This file orders the
 * steps and handles failures between them. Source: pkg/controller/statefulset: UpdateStatefulSet.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import { type Pod, StatefulSet } from "../../kube/resources.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as StatusWriter from "../shared/workload/statusWriter.ts"
import * as Apply from "./apply.ts"
import type * as Claims from "./claims.ts"
import type { Deps } from "./deps.ts"
import * as History from "./history.ts"
import * as Identity from "./identity.ts"
import * as Metrics from "./metrics.ts"
import * as Plan from "./plan/plan.ts"
import * as Step from "./plan/step.ts"
import * as Snapshot from "./snapshot.ts"
import * as Spec from "./spec.ts"
import * as Status from "./status.ts"

export type Failure = History.Failure | Claims.ReplicaError

/** Calls in flight, over all syncs; over HTTP/1.1 each call needs a connection. */
const atOnce = 64

/** `severalAtOnce`: whether `maxUnavailable` of a set is used. */
export const sync = (deps: Deps, severalAtOnce: boolean) => {
  const permits = Semaphore.makeUnsafe(atOnce)
  const availableReplicas = StatusWriter.keptField()
  return Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome | void, Failure> {
    const set = deps.sets.get(key)
    if (set === undefined) return yield* Metrics.removeGauges(key)
    if (Spec.selectorOf(set) === undefined) return
    const history = yield* History.sync(deps, set)
    const pods = yield* claim(deps, set)
    const now = yield* Clock.currentTimeMillis
    const { current, update } = history
    const { namespace } = set.metadata
    const find = (name: string) => deps.claims.get(Key.make(namespace, name))
    const snapshot = Snapshot.take({ set, current, update, pods, claim: find, now })
    const plan = Plan.plan(snapshot, severalAtOnce ? Spec.maxUnavailable(set) : 1)
    if (severalAtOnce) yield* Metrics.record(set, plan)
    const failure = yield* Apply.apply(deps, permits, { set, plan })
    const done = failure === undefined ? Step.outcome(plan) : Step.nothing
    const counts = Status.count(snapshot, done, history.collisions)
    const written = yield* Effect.result(writeStatus(deps, availableReplicas, { set, counts }))
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
    Indexes.candidates(deps.pods, set)
  )

const writeStatus = (
  { live, updateStatus }: Deps,
  availableReplicas: StatusWriter.KeptField,
  { counts, set }: { readonly set: StatefulSet; readonly counts: Status.Counts }
): Effect.Effect<StatefulSet, ApiError> => {
  const write = (one: StatefulSet) =>
    Effect.tap(updateStatus(one), ({ status }) =>
      Effect.sync(() => {
        // The server omits zero, so a zero does not show whether it stores the field.
        if (counts.availableReplicas > 0)
          availableReplicas.answered(counts.availableReplicas, status?.availableReplicas)
      })
    )
  return StatusWriter.write({ live, updateStatus: write }, set, (stored) =>
    Status.status(stored, counts, availableReplicas.isKept())
  )
}
