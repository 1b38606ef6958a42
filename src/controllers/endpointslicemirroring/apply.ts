/**
 * Applies a plan, creates before updates before deletes, so that each address is always in a slice. Stops at the first
 * failed call. Source: pkg/controller/endpointslicemirroring: finalize.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type { EndpointSlice } from "../../kube/resources.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import type * as Plan from "./plan.ts"

/** A sync failed; the message goes into an event. */
export class SyncError extends Data.TaggedError("EndpointSliceMirroringSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError
}> {}

export const apply = Effect.fnUntraced(function* (deps: Deps, key: Key.Key, plan: Plan.Plan) {
  const { creates, deletes, totals, updates } = plan
  if (creates.length + updates.length + deletes.length === 0) return
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      ApiError.unlessTerminating(deps.create(draft)),
      failure(`failed to create EndpointSlice for Endpoints ${key}`)
    )
    // Nothing can be created in a terminating namespace, and the Endpoints will be deleted too.
    if (created === undefined) return
    yield* Metrics.changed("create")
  }
  for (const slice of updates) {
    const what = `failed to update ${slice.metadata.name} EndpointSlice for Endpoints ${key}`
    yield* Effect.mapError(deps.update(slice), failure(what))
    yield* Metrics.changed("update")
  }
  for (const slice of deletes) {
    const what = `failed to delete ${slice.metadata.name} EndpointSlice for Endpoints ${key}`
    yield* Effect.mapError(remove(deps, slice), failure(what))
  }
  yield* Effect.annotateLogs(Effect.logDebug("Mirrored Endpoints to slices"), {
    ...totals,
    slicesCreated: creates.length,
    slicesUpdated: updates.length,
    slicesDeleted: deletes.length
  })
})

/** Tries every deletion. Source: pkg/controller/endpointslicemirroring: deleteEndpoints. */
export const cleanUp = Effect.fnUntraced(function* (deps: Deps, key: Key.Key, slices: ReadonlyArray<EndpointSlice>) {
  const [, errors] = yield* Effect.partition(slices, (slice) => remove(deps, slice))
  const [first] = errors
  if (first === undefined) return
  const what = `error(s) deleting ${errors.length}/${slices.length} EndpointSlices for ${key} Endpoints, including`
  return yield* failure(what)(first)
})

const remove = (deps: Deps, slice: EndpointSlice): Effect.Effect<void, ApiError.ApiError> =>
  Effect.andThen(ApiError.unlessGone(deps.remove(slice)), Metrics.changed("delete"))

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
