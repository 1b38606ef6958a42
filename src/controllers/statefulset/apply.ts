/**
 * Carries out the plan: one action after the other in an ordered set, in slow-start batches in a parallel one. A phase with a failure is the last. Source:
 * pkg/controller/statefulset: updateStatefulSet, runForAll.
 */
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { StatefulSet } from "../../kube/resources.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import * as Claims from "./claims.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import type { Action, Step } from "./plan/step.ts"
import * as Steps from "./plan/step.ts"
import * as PodControl from "./podControl.ts"
import * as Spec from "./spec.ts"

/** Returns the first failure. */
export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  permits: Semaphore.Semaphore,
  { plan, set }: { readonly set: StatefulSet; readonly plan: Step }
): Effect.fn.Return<Claims.ReplicaError | undefined> {
  yield* Metrics.countActions(plan)
  yield* log(plan)
  const call = (action: Action) => permits.withPermit(carry(deps, set, action))
  const run = Spec.isOrdered(set) ? inOrder : together
  for (const phase of plan.phases) {
    const failure = yield* run(phase, call)
    if (failure !== undefined) return failure
  }
  return undefined
})

const log = (step: Step): Effect.Effect<void> => {
  const all = Steps.actions(step)
  if (all.length === 0) return Effect.void
  const count = (tag: Action["_tag"]): number => all.filter(({ _tag }) => _tag === tag).length
  const counts = { created: count("Create"), deleted: count("Delete"), updated: count("Update") }
  const annotations = { ...counts, replicas: all.map(({ ordinal }) => ordinal).join(","), waiting: step.waiting?.for }
  return Effect.annotateLogs(Effect.logDebug("Applied a step to replicas"), annotations)
}

/** Runs the actions of a phase; returns the first failure. */
type Run = (
  phase: ReadonlyArray<Action>,
  call: (action: Action) => Effect.Effect<void, Claims.ReplicaError>
) => Effect.Effect<Claims.ReplicaError | undefined>

const inOrder: Run = (phase, call) =>
  Effect.matchEager(Effect.forEach(phase, call, { discard: true }), {
    onSuccess: () => undefined,
    onFailure: (failure) => failure
  })

const together: Run = (phase, call) => {
  let next = 0
  const one = Effect.suspend(() => {
    const action = phase[next++]
    return action === undefined ? Effect.void : call(action)
  })
  return Effect.map(SlowStart.run(phase.length, one), ({ failure }) => failure?.error)
}

const carry = (deps: Deps, set: StatefulSet, action: Action): Effect.Effect<void, Claims.ReplicaError> => {
  switch (action._tag) {
    case "Create":
      return PodControl.create(deps, set, action)
    case "Update":
      return PodControl.update(deps, set, action)
    case "Delete":
      return PodControl.remove(deps, set, action)
    case "CreateClaims":
      return PodControl.createMissingClaims(deps, set, action)
    case "UpdateClaims":
      return Claims.updateClaimOwners(deps, { set, ordinal: action.ordinal }, action.storage)
  }
}
