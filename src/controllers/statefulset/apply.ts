/**
 * Applies a step: one action after the other in an ordered set, in slow-start batches in a parallel one. A phase with a failure is the last. Source:
 * pkg/controller/statefulset: updateStatefulSet, runForAll.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { StatefulSet } from "../../kube/resources.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import * as Claims from "./claims.ts"
import * as Metrics from "./metrics.ts"
import type { Action, Step } from "./plan/step.ts"
import * as Steps from "./plan/step.ts"
import * as Pods from "./podControl.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** Calls in flight, over all syncs; over HTTP/1.1 each call needs a connection. */
const atOnce = 64

/** What all syncs share. */
export interface Apply {
  readonly deps: Deps
  /** Whether several replicas may be replaced at a time. */
  readonly severalAtOnce: boolean
  readonly permits: Semaphore.Semaphore
}

export const make = (shared: Omit<Apply, "permits">): Apply => ({ ...shared, permits: Semaphore.makeUnsafe(atOnce) })

/** Returns the first failure. */
export const carryOut = Effect.fnUntraced(function* (
  context: Apply,
  set: StatefulSet,
  step: Step
): Effect.fn.Return<Claims.ReplicaError | undefined> {
  yield* Metrics.countActions(step)
  yield* log(step)
  for (const phase of step.phases) {
    const failure = yield* Spec.isOrdered(set) ? inOrder(context, set, phase) : together(context, set, phase)
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

const inOrder = (
  context: Apply,
  set: StatefulSet,
  phase: ReadonlyArray<Action>
): Effect.Effect<Claims.ReplicaError | undefined> =>
  Effect.matchEager(
    Effect.forEach(phase, (action) => context.permits.withPermit(carry(context.deps, set, action)), { discard: true }),
    { onSuccess: () => undefined, onFailure: (failure) => failure }
  )

const together = (
  context: Apply,
  set: StatefulSet,
  phase: ReadonlyArray<Action>
): Effect.Effect<Claims.ReplicaError | undefined> => {
  let next = 0
  const call = Effect.suspend(() => {
    const action = phase[next++]
    return action === undefined ? Effect.void : context.permits.withPermit(carry(context.deps, set, action))
  })
  return Effect.map(SlowStart.run(phase.length, call), ({ failure }) => failure?.error)
}

const carry = (deps: Deps, set: StatefulSet, action: Action): Effect.Effect<void, Claims.ReplicaError> => {
  switch (action._tag) {
    case "Create":
      return Pods.create(deps, set, action)
    case "Update":
      return Pods.update(deps, set, action)
    case "Delete":
      return Pods.remove(deps, set, action)
    case "CreateClaims":
      return Pods.createMissingClaims(deps, set, action)
    case "UpdateClaims":
      return Claims.updateClaimOwners(deps, { set, ordinal: action.ordinal }, action.storage)
  }
}
