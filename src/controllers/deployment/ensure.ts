/**
 * The new ReplicaSet of a rollout: looked up, brought in line with its Deployment, and created where that is allowed. A name that is
 * taken is either our own set, which the cache has not shown yet, or a collision of hashes: then the Deployment counts it, and the next
 * try gets another name. Source: spec B.3.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as NewReplicaSet from "./newReplicaSet.ts"
import * as Outcome from "./outcome.ts"
import { type Deps, type Rollout, scaled, writeStatus } from "./deps.ts"
import * as Progress from "./progress.ts"
import * as ReplicaSets from "./replicaSets.ts"

/** Creates nothing. A set that had to be written is all that is written: what it means for the Deployment is the next round's. */
export const existing = Effect.fnUntraced(function* (
  deps: Deps,
  rollout: Rollout
): Effect.fn.Return<Rollout, ApiError.ApiError> {
  const { deployment, now, sets } = rollout
  const { current, old } = sets
  if (current === undefined) return rollout
  const update = NewReplicaSet.update(deployment, current, old)
  if (update !== undefined) return { ...rollout, sets: { old, current: yield* deps.updateSet(update) } }
  return { ...rollout, deployment: yield* writeStatus(deps, deployment, Outcome.found(deployment, current, now)) }
})

/** After `existing`: creates the set if there is none, as large as it may be or as given. */
export const present = Effect.fnUntraced(function* (
  deps: Deps,
  rollout: Rollout,
  replicas?: number
): Effect.fn.Return<Rollout, ApiError.ApiError> {
  const { deployment, now, sets } = rollout
  if (sets.current !== undefined) return rollout
  const draft = NewReplicaSet.draft(deployment, sets.old, replicas)
  const revision = NewReplicaSet.nextRevision(sets.old)
  const made = yield* Effect.catch(
    Effect.map(deps.createSet(draft), (set) => ({ set, isNew: true })),
    (error) => Effect.map(refused(deps, rollout, draft.metadata.name, error), (set) => ({ set, isNew: false }))
  )
  const size = ReplicaSets.size(made.set)
  if (made.isNew && size > 0) yield* scaled(deps, deployment, made.set.metadata.name, 0, size)
  const after = made.isNew
    ? Outcome.created(deployment, made.set, revision, now)
    : Outcome.recovered(deployment, revision)
  return {
    ...rollout,
    deployment: yield* writeStatus(deps, deployment, after),
    sets: { ...sets, current: made.set }
  }
})

/** What a refused creation means: our own set, or a failure that the Deployment tells of. */
const refused = (
  deps: Deps,
  rollout: Rollout,
  name: string,
  error: ApiError.ApiError
): Effect.Effect<ReplicaSet, ApiError.ApiError> => {
  if (ApiError.hasReason(error, "AlreadyExists")) return taken(deps, rollout, name, error)
  // The Deployment will go with its namespace: nobody needs to hear of it.
  if (ApiError.isNamespaceTerminating(error)) return Effect.fail(error)
  return Effect.andThen(recordFailure(deps, rollout, name, error), Effect.fail(error))
}

const taken = Effect.fnUntraced(function* (
  deps: Deps,
  { deployment }: Rollout,
  name: string,
  error: ApiError.ApiError
): Effect.fn.Return<ReplicaSet, ApiError.ApiError> {
  const holder = yield* deps.liveSet(deployment, name)
  if (isOwn(deployment, holder)) return holder
  yield* deps.updateStatus(Outcome.collided(deployment))
  return yield* error
})

const isOwn = (deployment: Deployment, set: ReplicaSet): boolean =>
  Owner.controlledBy(set, deployment.metadata.uid) &&
  ReplicaSets.sameTemplate(set.spec?.template, deployment.spec?.template)

/** The status is second to the failure it tells of: if it cannot be written either, that is no news. */
const recordFailure = (deps: Deps, { deployment, now }: Rollout, name: string, error: ApiError.ApiError) => {
  const message = `Failed to create new replica set ${JSON.stringify(name)}: ${error.detail}`
  const statusWritten = writeStatus(deps, deployment, Outcome.failed(deployment, message, now))
  return Effect.andThen(
    Effect.ignore(statusWritten),
    deps.events.event(deployment, "Warning", Progress.reasons.createFailed, message)
  )
}
