/**
 * One sync of a Deployment: applies what the plans beside this file decide. A sync changes one thing and then writes
 * the status; the watch event of its own write triggers the next sync. Source: pkg/controller/deployment:
 * syncDeployment.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import type { Key } from "../../kube/Key.ts"
import type { Deployment, Pod, ReplicaSet } from "../../kube/resources.ts"
import * as Bounds from "./plan/bounds.ts"
import type * as Conditions from "./plan/conditions.ts"
import * as Ensure from "./apply.ts"
import * as Path from "./plan/plan.ts"
import { type Deps, resize, type Rollout, writeStatus } from "./deps.ts"
import * as Progress from "./plan/progress.ts"
import * as ReplicaSets from "./plan/replicaSets.ts"
import * as Revisions from "./plan/revisions.ts"
import * as Rollback from "./plan/rollback.ts"
import * as Rolling from "./plan/rolling.ts"
import * as Scaling from "./plan/scaling.ts"
import * as Status from "./status.ts"

/** A strategy type that this controller does not know. */
export class UnknownStrategy extends Data.TaggedError("UnknownStrategy")<{ readonly type: string }> {
  override get message(): string {
    return `unexpected deployment strategy type: ${this.type}`
  }
}

/**
 * A selector that cannot be parsed; retried with backoff. Source: pkg/controller/deployment:
 * getReplicaSetsForDeployment.
 */
export class InvalidSelector extends Data.TaggedError("InvalidSelector")<{
  readonly deployment: Key
  readonly why: string
}> {
  override get message(): string {
    return `deployment ${this.deployment} has invalid label selector: ${this.why}`
  }
}

export type Failure = ApiError.ApiError | UnknownStrategy

/** The cached objects that a sync starts from. */
export interface Gathered {
  readonly deployment: Deployment
  /** The ReplicaSets that the Deployment controls. */
  readonly owned: ReadonlyArray<ReplicaSet>
  /** The pods a ReplicaSet controls, in every phase. */
  readonly podsOf: (set: ReplicaSet) => ReadonlyArray<Pod>
}

/**
 * For a selector that selects every pod: an event, and nothing else. `observedGeneration` is written once per
 * generation.
 */
export const refuse = Effect.fnUntraced(function* (
  deps: Deps,
  deployment: Deployment
): Effect.fn.Return<void, ApiError.ApiError> {
  const message = "This deployment is selecting all pods. A non-empty selector is required."
  yield* deps.events.event(deployment, "Warning", "SelectingAll", message)
  const generation = deployment.metadata.generation ?? 0
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return
  yield* deps.updateStatus({ ...deployment, status: { ...deployment.status, observedGeneration: generation } })
})

/** Returns when to check again without an event. */
export const run = Effect.fnUntraced(function* (
  deps: Deps,
  { deployment, owned, podsOf }: Gathered
): Effect.fn.Return<Progress.Recheck, Failure> {
  const now = yield* Clock.currentTimeMillis
  const isLeaving = deployment.metadata.deletionTimestamp !== undefined
  const paused = isLeaving ? deployment : yield* writeStatus(deps, deployment, Progress.pause(deployment, now))
  const rollout = yield* Ensure.existing(deps, { deployment: paused, sets: ReplicaSets.find(paused, owned), now })
  const path = Path.pathOf(rollout.deployment, rollout.sets)
  switch (path._tag) {
    case "Report":
      return yield* report(deps, rollout)
    case "Scale":
      return yield* scale(deps, rollout)
    case "Rollback":
      return yield* rollBack(deps, rollout, path.revision)
    case "Recreate":
      return yield* recreate(deps, rollout, podsOf)
    case "Rolling":
      return yield* roll(deps, rollout)
    case "UnknownStrategy":
      return yield* new UnknownStrategy({ type: path.type })
  }
})

/** Scales to `spec.replicas` whatever the state of a rollout; progress is not judged meanwhile. */
const scale = Effect.fnUntraced(function* (deps: Deps, before: Rollout): Effect.fn.Return<Progress.Recheck, Failure> {
  const rollout = yield* resize(deps, before, Scaling.plan(before.deployment, before.sets))
  const { deployment } = rollout
  const isPaused = deployment.spec?.paused === true && Rollback.requested(deployment) === undefined
  if (isPaused) yield* cleanUp(deps, rollout)
  return yield* report(deps, rollout)
})

/**
 * Ends with the write: the next sync rolls out the restored template. The new ReplicaSet must exist, because its
 * revision counts; for Recreate it is created with no replicas.
 */
const rollBack = Effect.fnUntraced(function* (
  deps: Deps,
  before: Rollout,
  revision: bigint
): Effect.fn.Return<Progress.Recheck, Failure> {
  const size = Bounds.isRolling(before.deployment) ? undefined : 0
  const { deployment, sets } = yield* Ensure.present(deps, before, size)
  const { deployment: next, event } = Rollback.decide(deployment, sets, revision)
  if (event.type === "Warning") yield* deps.events.event(deployment, event.type, event.reason, event.message)
  yield* deps.update(next)
  if (event.type === "Normal") yield* deps.events.event(deployment, event.type, event.reason, event.message)
  return undefined
})

const roll = Effect.fnUntraced(function* (deps: Deps, before: Rollout): Effect.fn.Return<Progress.Recheck, Failure> {
  const rollout = yield* Ensure.present(deps, before)
  const growth = Rolling.grow(rollout.deployment, rollout.sets)
  if (growth !== undefined) return yield* judge(deps, yield* resize(deps, rollout, [growth]))
  const steps = Rolling.shrink(rollout.deployment, rollout.sets)
  const shrunk = yield* Effect.result(resize(deps, rollout, steps))
  if (Result.isFailure(shrunk)) {
    // Writes the status first, as if nothing had been scaled; then the failure requeues the key.
    yield* judge(deps, yield* finish(deps, rollout))
    return yield* shrunk.failure
  }
  return yield* judge(deps, steps.length > 0 ? shrunk.success : yield* finish(deps, rollout))
})

const recreate = Effect.fnUntraced(function* (
  deps: Deps,
  before: Rollout,
  podsOf: Gathered["podsOf"]
): Effect.fn.Return<Progress.Recheck, Failure> {
  const steps = Path.shrinkToZero(before.sets)
  if (steps.length > 0) return yield* judge(deps, yield* resize(deps, before, steps))
  if (Path.isWaitingForPods(before.sets, podsOf)) return yield* judge(deps, before)
  const rollout = yield* Ensure.present(deps, before)
  const growth = Path.growAtOnce(rollout.deployment, rollout.sets)
  return yield* judge(deps, yield* finish(deps, yield* resize(deps, rollout, growth)))
})

/** Deletes surplus ReplicaSets once the stored status is complete. */
const finish = (deps: Deps, rollout: Rollout): Effect.Effect<Rollout, ApiError.ApiError> =>
  Progress.isComplete(rollout.deployment, rollout.deployment.status ?? {})
    ? Effect.as(cleanUp(deps, rollout), rollout)
    : Effect.succeed(rollout)

const cleanUp = (deps: Deps, { deployment, sets }: Rollout): Effect.Effect<void, ApiError.ApiError> =>
  Effect.forEach(
    Revisions.surplus(deployment, sets.old),
    (set) =>
      Effect.catchIf(
        deps.removeSet(set),
        (error) => ApiError.hasReason(error, "NotFound"),
        () => Effect.void
      ),
    { discard: true }
  )

/** Writes the counts without judging progress. */
const report = Effect.fnUntraced(function* (
  deps: Deps,
  { deployment, now, sets }: Rollout
): Effect.fn.Return<Progress.Recheck, Failure> {
  yield* updateStatusIfChanged(deps, deployment, Status.compute(deployment, sets, now))
  return undefined
})

/** Returns the Deployment as written, or the same object if its status is equal. */
const updateStatusIfChanged = (
  { terminatingReplicas, updateStatus }: Deps,
  deployment: Deployment,
  status: Conditions.Status
): Effect.Effect<Deployment, ApiError.ApiError> =>
  Status.isSame(deployment.status ?? {}, status, terminatingReplicas.isKept())
    ? Effect.succeed(deployment)
    : Effect.tap(updateStatus({ ...deployment, status }), (written) =>
        Effect.sync(() => {
          terminatingReplicas.answered(status.terminatingReplicas, written.status?.terminatingReplicas)
        })
      )

/**
 * Writes the counts and the Progressing condition; returns when to check again if nothing was written, or if the
 * server, which may be too old for a field, stored nothing new.
 */
const judge = Effect.fnUntraced(function* (
  deps: Deps,
  { deployment, now, sets }: Rollout
): Effect.fn.Return<Progress.Recheck, Failure> {
  const status = Status.rollout(deployment, sets, now)
  const written = yield* updateStatusIfChanged(deps, deployment, status)
  return written.metadata.resourceVersion === deployment.metadata.resourceVersion
    ? Progress.recheck(deployment, status, now)
    : undefined
})
