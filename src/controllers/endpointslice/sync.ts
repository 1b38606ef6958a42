/**
 * One sync of a Service's slices: collects from the cache, plans, records events, and applies the plan. Source:
 * endpointslice: Reconcile.
 */
import * as Effect from "effect/Effect"
import { aggregate } from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Pod, Service } from "../../kube/resources.ts"
import * as Selection from "../shared/services/selection.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import { apply, SyncError } from "./apply.ts"
import * as Metrics from "./metrics.ts"
import * as Desired from "./plan/desired.ts"
import * as Plan from "./plan/plan.ts"
import type { Deps } from "./deps.ts"
import type { State } from "./state.ts"
import * as Slices from "./slices.ts"

/** `limit`: maximum number of endpoints in a slice. */
export const sync =
  (deps: Deps, state: State, limit: number) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Effect.suspend(() => {
      const service = deps.services.get(key)
      if (service === undefined) state.tracker.forget(key)
      if (service === undefined || Selection.selectorOf(service) === undefined) return forget(state, key)
      return Effect.tapError(reconcile(deps, state, { service, limit }), ({ message }) =>
        recordFailure(deps, service, message)
      )
    }).pipe(
      Effect.tap(() => Metrics.synced("success")),
      Effect.tapError(() => Metrics.synced("error"))
    )

const forget = ({ preferences, totals, topologyCache }: State, key: Key.Key): Effect.Effect<void> => {
  topologyCache.forget(key)
  return Effect.andThen(Metrics.total(totals.forget(key)), Metrics.preferred(preferences.note(key, undefined)))
}

const recordFailure = ({ events }: Deps, service: Service, message: string): Effect.Effect<void> =>
  events.warning(
    service,
    "FailedToUpdateEndpointSlices",
    `Error updating Endpoint Slices for Service ${Key.of(service)}: ${message}`
  )

const reconcile = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { limit, service }: { readonly service: Service; readonly limit: number }
) {
  const { tracker, preferences, table, totals, topologyCache, zones } = state
  const key = Key.of(service)
  const pods = Selection.podsOf(deps.pods, table, service)
  const times = TriggerTime.step(tracker.times.get(key), service, pods)
  const nodeOf = (name: string) => deps.nodes.get(name)
  const plan = Plan.plan({
    service,
    pods,
    slices: slicesOf(deps, state, key),
    nodeOf,
    time: times.time,
    limit,
    shares: zones.shares()
  })
  // Before the first asynchronous call: a node event from here on sees this decision.
  const topologyEvents = topologyCache.note(key, plan.outcomes)
  yield* Effect.forEach(topologyEvents, ({ message, reason, type }) =>
    deps.events.event(service, type, reason, message)
  )
  yield* Metrics.preferred(preferences.note(key, Desired.preferenceOf(service)))
  const errors = [...lostPods(service, plan.lost), ...(yield* apply(deps, state, { key, service, plan }))]
  yield* Metrics.total(totals.note(key, plan.sizes))
  if (errors.length > 0) {
    const cause = errors.find((error) => error.cause !== undefined)?.cause
    return yield* new SyncError({ message: aggregate(errors.map(({ message }) => message)), cause })
  }
  tracker.times.set(key, times.state)
})

const slicesOf = ({ slices }: Deps, { tracker }: State, key: Key.Key): ReadonlyArray<EndpointSlice> =>
  slices
    .byIndex(Slices.byService.name, key)
    .filter((slice) => slice.metadata.deletionTimestamp === undefined && !tracker.isGone(key, slice))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const lostPods = (service: Service, pods: ReadonlyArray<Pod>): ReadonlyArray<SyncError> =>
  pods.map(({ metadata, spec }) => {
    const message = `skipping Pod ${metadata.name} for Service ${Key.of(service)}: Node ${spec?.nodeName ?? ""} Not Found`
    return new SyncError({ message, cause: undefined })
  })
