/**
 * One sync of some Endpoints: collects from the cache, plans, and applies the plan, creates before updates before
 * deletes, so that each address is always in a slice. Stops at the first failed call. Source:
 * pkg/controller/endpointslicemirroring: syncEndpoints.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Endpoints, EndpointSlice, Service } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Calls from "../shared/services/calls.ts"
import type { Totals } from "../shared/services/totals.ts"
import * as Metrics from "./metrics.ts"
import * as Mirrored from "./mirrored.ts"
import * as Plan from "./plan.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** The stores and API calls that the mirroring controller depends on. */
export interface Deps {
  readonly services: Store.Readable<Service>
  readonly endpoints: Store.Readable<Endpoints>
  readonly slices: Store.Readable<EndpointSlice>
  readonly create: (draft: Draft<EndpointSlice>) => Call<EndpointSlice>
  readonly update: (slice: EndpointSlice) => Call<EndpointSlice>
  readonly remove: (slice: EndpointSlice) => Call<unknown>
  readonly events: EventSink
  readonly totals: Totals
  /** Maximum number of addresses of a subset, and so of a slice. */
  readonly limit: number
}

/** A sync failed; the message goes into an event. */
export class SyncError extends Data.TaggedError("EndpointSliceMirroringSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError
}> {}

export const sync =
  (deps: Deps) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Metrics.timed(
      Effect.suspend(() => {
        const found = deps.endpoints.get(key)
        const endpoints = isMirrored(deps, key, found) ? found : undefined
        const plan = Plan.plan({ endpoints, slices: slicesOf(deps, key), limit: deps.limit })
        if (endpoints === undefined)
          return Effect.andThen(Metrics.total(deps.totals.forget(key)), cleanUp(deps, key, plan.deletes))
        const applied = apply(deps, key, plan)
        return Metrics.planned(plan).pipe(
          Effect.andThen(Metrics.total(deps.totals.note(key, plan.sizes))),
          Effect.andThen(warn(deps, endpoints, plan)),
          Effect.andThen(Effect.tapError(applied, ({ message }) => recordFailure(deps, endpoints, message)))
        )
      })
    )

/** They exist and allow it, and their Service has no selector. */
const isMirrored = ({ services }: Deps, key: Key.Key, endpoints: Endpoints | undefined): boolean => {
  const service = services.get(key)
  return (
    endpoints !== undefined && Mirrored.isWanted(endpoints) && service !== undefined && Mirrored.leavesToOthers(service)
  )
}

const slicesOf = ({ slices }: Deps, key: Key.Key): ReadonlyArray<EndpointSlice> =>
  slices
    .byIndex(Mirrored.byEndpoints.name, key)
    .filter((slice) => slice.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const warn = Effect.fnUntraced(function* (
  { events, limit }: Deps,
  endpoints: Endpoints,
  { invalid, skipped }: Plan.Plan
) {
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    yield* events.warning(endpoints, "InvalidIPAddress", message)
  }
  if (skipped > invalid) {
    const message = `A max of ${limit} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    yield* events.warning(endpoints, "TooManyAddressesToMirror", message)
  }
})

const recordFailure = ({ events }: Deps, endpoints: Endpoints, message: string): Effect.Effect<void> =>
  events.warning(
    endpoints,
    "FailedToUpdateEndpointSlices",
    `Error updating Endpoint Slices for Endpoints ${Key.of(endpoints)}: ${message}`
  )

const apply = Effect.fnUntraced(function* (deps: Deps, key: Key.Key, plan: Plan.Plan) {
  const { creates, deletes, totals, updates } = plan
  if (creates.length + updates.length + deletes.length === 0) return
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      Calls.unlessTerminating(deps.create(draft)),
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
const cleanUp = Effect.fnUntraced(function* (deps: Deps, key: Key.Key, slices: ReadonlyArray<EndpointSlice>) {
  const [, errors] = yield* Effect.partition(slices, (slice) => remove(deps, slice))
  const [first] = errors
  if (first === undefined) return
  const what = `error(s) deleting ${errors.length}/${slices.length} EndpointSlices for ${key} Endpoints, including`
  return yield* failure(what)(first)
})

const remove = (deps: Deps, slice: EndpointSlice): Call<void> =>
  Effect.andThen(Calls.unlessGone(deps.remove(slice)), Metrics.changed("delete"))

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
