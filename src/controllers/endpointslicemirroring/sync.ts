/**
 * One sync of some Endpoints: collects from the cache, plans, records events, and applies the plan. Source:
 * pkg/controller/endpointslicemirroring: syncEndpoints.
 */
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { Endpoints, EndpointSlice } from "../../kube/resources.ts"
import type { Totals } from "../shared/services/totals.ts"
import { apply, cleanUp, type SyncError } from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import * as Mirrored from "./mirrored.ts"
import * as Plan from "./plan.ts"

/** `limit`: maximum number of addresses of a subset, and so of a slice. */
export const sync =
  (deps: Deps, totals: Totals, limit: number) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Metrics.timed(
      Effect.suspend(() => {
        const found = deps.endpoints.get(key)
        const endpoints = isMirrored(deps, key, found) ? found : undefined
        const plan = Plan.plan({ endpoints, slices: slicesOf(deps, key), limit })
        if (endpoints === undefined)
          return Effect.andThen(Metrics.total(totals.forget(key)), cleanUp(deps, key, plan.deletes))
        const applied = apply(deps, key, plan)
        return Metrics.planned(plan).pipe(
          Effect.andThen(Metrics.total(totals.note(key, plan.sizes))),
          Effect.andThen(warn(deps, endpoints, plan, limit)),
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
  { events }: Deps,
  endpoints: Endpoints,
  { invalid, skipped }: Plan.Plan,
  limit: number
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
