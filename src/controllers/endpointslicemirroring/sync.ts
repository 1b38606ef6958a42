/**
 * One sync of some Endpoints: gathers from the cache, plans, and carries the plan out, creates before updates before deletes, so that no address
 * is without a slice in between. The first call that fails ends it. Source: spec F.4.
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

/** What the loop reads and does; nothing here knows where it goes. */
export interface Ports {
  readonly services: Store.Readable<Service>
  readonly endpoints: Store.Readable<Endpoints>
  readonly slices: Store.Readable<EndpointSlice>
  readonly create: (draft: Draft<EndpointSlice>) => Call<EndpointSlice>
  readonly update: (slice: EndpointSlice) => Call<EndpointSlice>
  readonly remove: (slice: EndpointSlice) => Call<unknown>
  readonly events: EventSink
  readonly totals: Totals
  /** Addresses of a subset, and of a slice, at most. */
  readonly limit: number
}

/** The slices are not as they should be; the message is what users read in an event. */
export class SyncError extends Data.TaggedError("EndpointSliceMirroringSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError
}> {}

export const sync =
  (ports: Ports) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Metrics.timed(
      Effect.suspend(() => {
        const found = ports.endpoints.get(key)
        const endpoints = isMirrored(ports, key, found) ? found : undefined
        const plan = Plan.plan({ endpoints, slices: slicesOf(ports, key), limit: ports.limit })
        if (endpoints === undefined)
          return Effect.andThen(Metrics.total(ports.totals.forget(key)), cleanUp(ports, key, plan.deletes))
        const work = apply(ports, key, plan)
        return Metrics.planned(plan).pipe(
          Effect.andThen(Metrics.total(ports.totals.note(key, plan.sizes))),
          Effect.andThen(warn(ports, endpoints, plan)),
          Effect.andThen(Effect.tapError(work, ({ message }) => tell(ports, endpoints, message)))
        )
      })
    )

/** They are there and want it, and their Service leaves them to others. */
const isMirrored = ({ services }: Ports, key: Key.Key, endpoints: Endpoints | undefined): boolean => {
  const service = services.get(key)
  return (
    endpoints !== undefined && Mirrored.isWanted(endpoints) && service !== undefined && Mirrored.leavesToOthers(service)
  )
}

const slicesOf = ({ slices }: Ports, key: Key.Key): ReadonlyArray<EndpointSlice> =>
  slices
    .byIndex(Mirrored.byEndpoints.name, key)
    .filter((slice) => slice.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const warn = Effect.fnUntraced(function* (
  { events, limit }: Ports,
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

const tell = ({ events }: Ports, endpoints: Endpoints, message: string): Effect.Effect<void> =>
  events.warning(
    endpoints,
    "FailedToUpdateEndpointSlices",
    `Error updating Endpoint Slices for Endpoints ${Key.of(endpoints)}: ${message}`
  )

const apply = Effect.fnUntraced(function* (ports: Ports, key: Key.Key, plan: Plan.Plan) {
  const { creates, deletes, totals, updates } = plan
  if (creates.length + updates.length + deletes.length === 0) return
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      Calls.unlessTerminating(ports.create(draft)),
      failure(`failed to create EndpointSlice for Endpoints ${key}`)
    )
    // Nothing can be created there any more, and the Endpoints will go too.
    if (created === undefined) return
    yield* Metrics.changed("create")
  }
  for (const slice of updates) {
    const what = `failed to update ${slice.metadata.name} EndpointSlice for Endpoints ${key}`
    yield* Effect.mapError(ports.update(slice), failure(what))
    yield* Metrics.changed("update")
  }
  for (const slice of deletes) {
    const what = `failed to delete ${slice.metadata.name} EndpointSlice for Endpoints ${key}`
    yield* Effect.mapError(remove(ports, slice), failure(what))
  }
  yield* Effect.annotateLogs(Effect.logDebug("Mirrored Endpoints to slices"), {
    ...totals,
    slicesCreated: creates.length,
    slicesUpdated: updates.length,
    slicesDeleted: deletes.length
  })
})

/** Deletes all that it can. pkg/controller/endpointslicemirroring: deleteEndpoints. */
const cleanUp = Effect.fnUntraced(function* (ports: Ports, key: Key.Key, slices: ReadonlyArray<EndpointSlice>) {
  const [, errors] = yield* Effect.partition(slices, (slice) => remove(ports, slice))
  const [first] = errors
  if (first === undefined) return
  const what = `error(s) deleting ${errors.length}/${slices.length} EndpointSlices for ${key} Endpoints, including`
  return yield* failure(what)(first)
})

const remove = (ports: Ports, slice: EndpointSlice): Call<void> =>
  Effect.andThen(Calls.unlessGone(ports.remove(slice)), Metrics.changed("delete"))

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
