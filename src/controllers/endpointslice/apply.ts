/**
 * Applies a plan family by family, creates before updates before deletes, so that each endpoint is always in a slice. A
 * failed call ends its family only. Source: endpointslice: Reconcile.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Service } from "../../kube/resources.ts"
import type { Family } from "../shared/services/pods.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import type * as Plan from "./plan/plan.ts"
import type { State } from "./state.ts"

/** A sync failed; the message goes into an event. */
export class SyncError extends Data.TaggedError("EndpointSliceSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError | undefined
}> {}

interface Reconciling {
  readonly key: Key.Key
  readonly service: Service
  readonly plan: Plan.Plan
}

/** Returns the failures. A family without one is complete. Source: endpointslice: Reconcile. */
export const apply = Effect.fnUntraced(function* (deps: Deps, state: State, work: Reconciling) {
  const { key, plan } = work
  const { outcomes, creates, deletes, families, sizes, updates } = plan
  yield* Metrics.planned(plan)
  const errors: Array<SyncError> = []
  const attempt = (work: Effect.Effect<void, SyncError>) =>
    Effect.catch(work, (error) => Effect.sync(() => void errors.push(error)))
  for (const family of families) yield* attempt(applyFamily(deps, state, { ...work, family }))
  const isServed = ({ addressType }: EndpointSlice) => families.some((family) => family === addressType)
  for (const slice of deletes.filter((one) => !isServed(one)))
    yield* attempt(remove(deps, state, { key, slice, verb: "error deleting" }))
  if (errors.length === 0 && creates.length + updates.length + deletes.length > 0)
    yield* Effect.annotateLogs(Effect.logDebug("Changed the slices of a Service"), {
      endpoints: sizes.endpoints,
      ...(outcomes.length === 0 ? {} : { hints: outcomes.map(({ outcome }) => outcome._tag).join() }),
      created: creates.length,
      updated: updates.length,
      deleted: deletes.length
    })
  return errors
})

/** Stops at the first failed call. Source: endpointslice: finalize. */
const applyFamily = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { family, key, plan, service }: Reconciling & { readonly family: Family }
) {
  const ofFamily = ({ addressType }: Pick<EndpointSlice, "addressType">) => addressType === family
  const [creates, updates] = [plan.creates.filter(ofFamily), plan.updates.filter(ofFamily)]
  const deletes = plan.deletes.filter(ofFamily)
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      ApiError.unlessTerminating(deps.create(draft)),
      failure(`failed to create EndpointSlice for Service ${key}`)
    )
    // Nothing can be created in a terminating namespace, and the Service will be deleted too.
    if (created === undefined) return
    state.tracker.written(key, created)
    yield* Metrics.changed("create")
  }
  for (const slice of updates) {
    const what = `failed to update ${slice.metadata.name} EndpointSlice for Service ${key}`
    state.tracker.written(key, yield* Effect.mapError(deps.update(slice), failure(what)))
    yield* Metrics.changed("update")
  }
  for (const slice of deletes) yield* remove(deps, state, { key, slice, verb: "failed to delete" })
  yield* Metrics.wrote(service, creates.length + updates.length + deletes.length)
})

interface Deletion {
  readonly key: Key.Key
  readonly slice: EndpointSlice
  readonly verb: string
}

const remove = Effect.fnUntraced(function* (deps: Deps, { tracker }: State, { key, slice, verb }: Deletion) {
  const what = `${verb} ${slice.metadata.name} EndpointSlice for Service ${key}`
  yield* Effect.mapError(ApiError.unlessGone(deps.remove(slice)), failure(what))
  tracker.deleted(key, slice)
  yield* Metrics.changed("delete")
})

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
