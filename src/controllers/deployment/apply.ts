/**
 * The new ReplicaSet of a rollout: found, updated from its Deployment, or created. A name that is taken belongs either
 * to our own ReplicaSet, which the cache does not show yet, or to a hash collision: then `collisionCount` is raised and
 * the next sync uses another name. Source: pkg/controller/deployment: getNewReplicaSet.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as NewReplicaSet from "./plan/newReplicaSet.ts"
import * as Outcome from "./outcome.ts"
import { type Deps, type Rollout, scaled, writeStatus } from "./deps.ts"
import * as Progress from "./plan/progress.ts"
import * as ReplicaSets from "./plan/replicaSets.ts"

/** Creates nothing. If the ReplicaSet had to be updated, the Deployment's status is left to the next sync. */
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

/**
 * Called after `existing`: creates the ReplicaSet if there is none, as large as the bounds allow or with `replicas`.
 */
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

/** Handles a failed creation: returns our own ReplicaSet if it exists, else records the failure and fails. */
const refused = (
  deps: Deps,
  rollout: Rollout,
  name: string,
  error: ApiError.ApiError
): Effect.Effect<ReplicaSet, ApiError.ApiError> => {
  if (ApiError.hasReason(error, "AlreadyExists")) return taken(deps, rollout, name, error)
  // The Deployment is deleted with its namespace, so no failure is recorded.
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

/** The creation's failure matters more than one of this status write, which is ignored. */
const recordFailure = (deps: Deps, { deployment, now }: Rollout, name: string, error: ApiError.ApiError) => {
  const message = `Failed to create new replica set ${JSON.stringify(name)}: ${error.detail}`
  const statusWritten = writeStatus(deps, deployment, Outcome.failed(deployment, message, now))
  return Effect.andThen(
    Effect.ignore(statusWritten),
    deps.events.event(deployment, "Warning", Progress.reasons.createFailed, message)
  )
}
