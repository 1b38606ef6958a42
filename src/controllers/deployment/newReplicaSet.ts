/**
 * The new ReplicaSet of a rollout: found, updated from its Deployment, or created. A name that is taken belongs either
 * to our own ReplicaSet, which the cache does not show yet, or to a hash collision: then `collisionCount` is raised and
 * the next sync uses another name. Source: pkg/controller/deployment: getNewReplicaSet.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import type { Deps } from "./deps.ts"
import * as Outcome from "./outcome.ts"
import * as Drafts from "./plan/newReplicaSet.ts"
import * as Progress from "./plan/progress.ts"
import * as ReplicaSets from "./replicaSets.ts"
import type { Snapshot } from "./snapshot.ts"

/** Creates nothing. If the ReplicaSet had to be updated, the Deployment's status is left to the next sync. */
export const update = Effect.fnUntraced(function* (
  deps: Deps,
  snapshot: Snapshot
): Effect.fn.Return<Snapshot, ApiError.ApiError> {
  const { deployment, now, sets } = snapshot
  const { current, old } = sets
  if (current === undefined) return snapshot
  const update = Drafts.update(deployment, current, old)
  if (update !== undefined) return { ...snapshot, sets: { old, current: yield* deps.updateSet(update) } }
  return { ...snapshot, deployment: yield* writeChanged(deps, deployment, Outcome.found(deployment, current, now)) }
})

/**
 * Called after `update`: creates the ReplicaSet if there is none, as large as the bounds allow or with `replicas`.
 */
export const ensure = Effect.fnUntraced(function* (
  deps: Deps,
  snapshot: Snapshot,
  replicas?: number
): Effect.fn.Return<Snapshot, ApiError.ApiError> {
  const { deployment, now, sets } = snapshot
  if (sets.current !== undefined) return snapshot
  const draft = Drafts.draft(deployment, sets.old, replicas)
  const revision = Drafts.nextRevision(sets.old)
  const made = yield* Effect.catch(
    Effect.map(deps.createSet(draft), (set) => ({ set, isNew: true })),
    (error) => Effect.map(refused(deps, snapshot, draft.metadata.name, error), (set) => ({ set, isNew: false }))
  )
  const size = ReplicaSets.size(made.set)
  if (made.isNew && size > 0) yield* scaled(deps, deployment, made.set.metadata.name, 0, size)
  const after = made.isNew
    ? Outcome.created(deployment, made.set, revision, now)
    : Outcome.recovered(deployment, revision)
  return {
    ...snapshot,
    deployment: yield* writeChanged(deps, deployment, after),
    sets: { ...sets, current: made.set }
  }
})

/** Handles a failed creation: returns our own ReplicaSet if it exists, else records the failure and fails. */
const refused = (
  deps: Deps,
  snapshot: Snapshot,
  name: string,
  error: ApiError.ApiError
): Effect.Effect<ReplicaSet, ApiError.ApiError> => {
  if (ApiError.hasReason(error, "AlreadyExists")) return taken(deps, snapshot, name, error)
  // The Deployment is deleted with its namespace, so no failure is recorded.
  if (ApiError.isNamespaceTerminating(error)) return Effect.fail(error)
  return Effect.andThen(recordFailure(deps, snapshot, name, error), Effect.fail(error))
}

const taken = Effect.fnUntraced(function* (
  deps: Deps,
  { deployment }: Snapshot,
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
const recordFailure = (deps: Deps, { deployment, now }: Snapshot, name: string, error: ApiError.ApiError) => {
  const message = `Failed to create new replica set ${JSON.stringify(name)}: ${error.detail}`
  const statusWritten = writeChanged(deps, deployment, Outcome.failed(deployment, message, now))
  return Effect.andThen(
    Effect.ignore(statusWritten),
    deps.events.event(deployment, "Warning", Progress.reasons.createFailed, message)
  )
}

/** Writes the status unless `after` is the same object. */
export const writeChanged = (
  deps: Deps,
  before: Deployment,
  after: Deployment
): Effect.Effect<Deployment, ApiError.ApiError> =>
  after === before ? Effect.succeed(before) : deps.updateStatus(after)

/** Records the event ScalingReplicaSet. */
export const scaled = (deps: Deps, deployment: Deployment, name: string, from: number, to: number) =>
  deps.events.event(
    deployment,
    "Normal",
    "ScalingReplicaSet",
    `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`
  )
