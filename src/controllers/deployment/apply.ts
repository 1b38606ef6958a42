/**
 * Carries out the plan of a sync: creates the new ReplicaSet, writes sizes, deletes surplus ReplicaSets, and records an
 * event for each changed size. Source: pkg/controller/deployment: sync, rolloutRolling, rolloutRecreate, rollback.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import type { Deps } from "./deps.ts"
import * as NewReplicaSet from "./newReplicaSet.ts"
import * as Bounds from "./plan/bounds.ts"
import * as Plan from "./plan/plan.ts"
import * as Progress from "./plan/progress.ts"
import * as Revisions from "./plan/revisions.ts"
import * as Rollback from "./plan/rollback.ts"
import * as Rolling from "./plan/rolling.ts"
import * as Scaling from "./plan/scaling.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Snapshot from "./snapshot.ts"
import { podsOf } from "./triggers.ts"

/** A strategy type that this controller does not know. */
export class UnknownStrategy extends Data.TaggedError("UnknownStrategy")<{ readonly type: string }> {
  override get message(): string {
    return `unexpected deployment strategy type: ${this.type}`
  }
}

export type Failure = ApiError.ApiError | UnknownStrategy

/** The state of the rollout for the status that follows. */
export interface Applied {
  readonly snapshot: Snapshot.Snapshot
  /** A failed write: the status is written first, as if nothing had been scaled. */
  readonly failure?: ApiError.ApiError
}

/** Undefined if no status follows, because the Deployment itself was written. */
export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  snapshot: Snapshot.Snapshot,
  plan: Plan.Plan
): Effect.fn.Return<Applied | undefined, Failure> {
  switch (plan._tag) {
    case "Report":
      return { snapshot }
    case "Scale":
      return { snapshot: yield* scale(deps, snapshot) }
    case "Rollback":
      yield* rollBack(deps, snapshot, plan.revision)
      return undefined
    case "Recreate":
      return { snapshot: yield* recreate(deps, snapshot) }
    case "Rolling":
      return yield* roll(deps, snapshot)
    case "UnknownStrategy":
      return yield* new UnknownStrategy({ type: plan.type })
  }
})

type Step = Effect.fn.Return<Snapshot.Snapshot, ApiError.ApiError>

/** Scales to `spec.replicas` whatever the state of a rollout. */
const scale = Effect.fnUntraced(function* (deps: Deps, before: Snapshot.Snapshot): Step {
  const snapshot = yield* resize(deps, before, Scaling.plan(before.deployment, before.sets))
  const { deployment } = snapshot
  const isPaused = deployment.spec?.paused === true && Rollback.requested(deployment) === undefined
  if (isPaused) yield* cleanUp(deps, snapshot)
  return snapshot
})

/**
 * Ends with the write: the next sync rolls out the restored template. The new ReplicaSet must exist, because its
 * revision counts; for Recreate it is created with no replicas.
 */
const rollBack = Effect.fnUntraced(function* (
  deps: Deps,
  before: Snapshot.Snapshot,
  revision: bigint
): Effect.fn.Return<void, ApiError.ApiError> {
  const size = Bounds.isRolling(before.deployment) ? undefined : 0
  const { deployment, sets } = yield* NewReplicaSet.ensure(deps, before, size)
  const { deployment: next, event } = Rollback.decide(deployment, sets, revision)
  if (event.type === "Warning") yield* deps.events.event(deployment, event.type, event.reason, event.message)
  yield* deps.update(next)
  if (event.type === "Normal") yield* deps.events.event(deployment, event.type, event.reason, event.message)
})

const roll = Effect.fnUntraced(function* (
  deps: Deps,
  before: Snapshot.Snapshot
): Effect.fn.Return<Applied, ApiError.ApiError> {
  const snapshot = yield* NewReplicaSet.ensure(deps, before)
  const growth = Rolling.grow(snapshot.deployment, snapshot.sets)
  if (growth !== undefined) return { snapshot: yield* resize(deps, snapshot, [growth]) }
  const steps = Rolling.shrink(snapshot.deployment, snapshot.sets)
  const shrunk = yield* Effect.result(resize(deps, snapshot, steps))
  if (Result.isFailure(shrunk)) return { snapshot: yield* finish(deps, snapshot), failure: shrunk.failure }
  return { snapshot: steps.length > 0 ? shrunk.success : yield* finish(deps, snapshot) }
})

const recreate = Effect.fnUntraced(function* (deps: Deps, before: Snapshot.Snapshot): Step {
  const steps = Plan.shrinkToZero(before.sets)
  if (steps.length > 0) return yield* resize(deps, before, steps)
  if (Plan.isWaitingForPods(before.sets, (set) => podsOf(deps, set))) return before
  const snapshot = yield* NewReplicaSet.ensure(deps, before)
  const growth = Plan.growAtOnce(snapshot.deployment, snapshot.sets)
  return yield* finish(deps, yield* resize(deps, snapshot, growth))
})

/** Deletes surplus ReplicaSets once the stored status is complete. */
const finish = (deps: Deps, snapshot: Snapshot.Snapshot): Effect.Effect<Snapshot.Snapshot, ApiError.ApiError> =>
  Progress.isComplete(snapshot.deployment, snapshot.deployment.status ?? {})
    ? Effect.as(cleanUp(deps, snapshot), snapshot)
    : Effect.succeed(snapshot)

const cleanUp = (deps: Deps, { deployment, sets }: Snapshot.Snapshot): Effect.Effect<void, ApiError.ApiError> =>
  Effect.forEach(Revisions.surplus(deployment, sets.old), (set) => ApiError.unlessGone(deps.removeSet(set)), {
    discard: true
  })

/** Writes the sizes one after the other, with an event for each changed size; stops at the first failure. */
const resize = (
  deps: Deps,
  snapshot: Snapshot.Snapshot,
  resizes: ReadonlyArray<Scaling.Resize>
): Effect.Effect<Snapshot.Snapshot, ApiError.ApiError> =>
  Effect.reduce(
    resizes,
    () => snapshot,
    (before, step) => resizeOne(deps, before, step)
  )

const resizeOne = Effect.fnUntraced(function* (deps: Deps, snapshot: Snapshot.Snapshot, step: Scaling.Resize) {
  const { deployment, sets } = snapshot
  // An earlier step may have written the same set.
  const set = Snapshot.all(sets).find((one) => ReplicaSets.isSame(one, step.set)) ?? step.set
  const next = Scaling.resized(deployment, { ...step, set })
  if (next === undefined) return snapshot
  const written = yield* deps.updateSet(next)
  const size = ReplicaSets.size(set)
  if (size !== step.size) yield* NewReplicaSet.scaled(deps, deployment, set.metadata.name, size, step.size)
  return { ...snapshot, sets: Snapshot.replace(sets, written) }
})
