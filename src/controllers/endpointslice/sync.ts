/**
 * One sync of a Service's slices: collects from the cache, plans, and applies the plan family by family, creates before
 * updates before deletes, so that each endpoint is always in a slice. A failed call ends its family only. Source:
 * endpointslice: Reconcile.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { aggregate } from "../../kube/ApiError.ts"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Pod, Service } from "../../kube/resources.ts"
import * as Calls from "../shared/services/calls.ts"
import type { Family } from "../shared/services/pods.ts"
import * as Selection from "../shared/services/selection.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import * as Metrics from "./metrics.ts"
import * as Desired from "./plan/desired.ts"
import * as Plan from "./plan/plan.ts"
import type { LoopState, Deps } from "./deps.ts"
import * as Slices from "./slices.ts"

/** A sync failed; the message goes into an event. */
export class SyncError extends Data.TaggedError("EndpointSliceSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError | undefined
}> {}

export const sync =
  (deps: Deps, loopState: LoopState) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Effect.suspend(() => {
      const service = deps.services.get(key)
      if (service === undefined) loopState.tracker.forget(key)
      if (service === undefined || Selection.selectorOf(service) === undefined) return forget(loopState, key)
      return Effect.tapError(reconcile(deps, loopState, service), ({ message }) =>
        recordFailure(deps, service, message)
      )
    }).pipe(
      Effect.tap(() => Metrics.synced("success")),
      Effect.tapError(() => Metrics.synced("error"))
    )

const forget = ({ preferences, totals, topologyCache }: LoopState, key: Key.Key): Effect.Effect<void> => {
  topologyCache.forget(key)
  return Effect.andThen(Metrics.total(totals.forget(key)), Metrics.preferred(preferences.note(key, undefined)))
}

const recordFailure = ({ events }: Deps, service: Service, message: string): Effect.Effect<void> =>
  events.warning(
    service,
    "FailedToUpdateEndpointSlices",
    `Error updating Endpoint Slices for Service ${Key.of(service)}: ${message}`
  )

const reconcile = Effect.fnUntraced(function* (deps: Deps, loopState: LoopState, service: Service) {
  const { tracker, limit, preferences, table, totals, topologyCache, zones } = loopState
  const key = Key.of(service)
  const pods = Selection.podsOf(deps.pods, table, service)
  const { state, time } = TriggerTime.step(tracker.times.get(key), service, pods)
  const nodeOf = (name: string) => deps.nodes.get(name)
  const plan = Plan.plan({
    service,
    pods,
    slices: slicesOf(deps, loopState, key),
    nodeOf,
    time,
    limit,
    shares: zones.shares()
  })
  // Before the first asynchronous call: a node event from here on sees this decision.
  const topologyEvents = topologyCache.note(key, plan.outcomes)
  yield* Effect.forEach(topologyEvents, ({ message, reason, type }) =>
    deps.events.event(service, type, reason, message)
  )
  yield* Metrics.preferred(preferences.note(key, Desired.preferenceOf(service)))
  const errors = [...lostPods(service, plan.lost), ...(yield* apply(deps, loopState, { key, service, plan }))]
  yield* Metrics.total(totals.note(key, plan.sizes))
  if (errors.length > 0) {
    const cause = errors.find((error) => error.cause !== undefined)?.cause
    return yield* new SyncError({ message: aggregate(errors.map(({ message }) => message)), cause })
  }
  tracker.times.set(key, state)
})

const slicesOf = ({ slices }: Deps, { tracker }: LoopState, key: Key.Key): ReadonlyArray<EndpointSlice> =>
  slices
    .byIndex(Slices.byService.name, key)
    .filter((slice) => slice.metadata.deletionTimestamp === undefined && !tracker.isGone(key, slice))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const lostPods = (service: Service, pods: ReadonlyArray<Pod>): ReadonlyArray<SyncError> =>
  pods.map(({ metadata, spec }) => {
    const message = `skipping Pod ${metadata.name} for Service ${Key.of(service)}: Node ${spec?.nodeName ?? ""} Not Found`
    return new SyncError({ message, cause: undefined })
  })

interface Reconciling {
  readonly key: Key.Key
  readonly service: Service
  readonly plan: Plan.Plan
}

/** Returns the failures. A family without one is complete. Source: endpointslice: Reconcile. */
const apply = Effect.fnUntraced(function* (deps: Deps, loopState: LoopState, work: Reconciling) {
  const { key, plan } = work
  const { outcomes, creates, deletes, families, sizes, updates } = plan
  yield* Metrics.planned(plan)
  const errors: Array<SyncError> = []
  const attempt = (work: Effect.Effect<void, SyncError>) =>
    Effect.catch(work, (error) => Effect.sync(() => void errors.push(error)))
  for (const family of families) yield* attempt(applyFamily(deps, loopState, { ...work, family }))
  const isServed = ({ addressType }: EndpointSlice) => families.some((family) => family === addressType)
  for (const slice of deletes.filter((one) => !isServed(one)))
    yield* attempt(remove(deps, loopState, { key, slice, verb: "error deleting" }))
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
  loopState: LoopState,
  { family, key, plan, service }: Reconciling & { readonly family: Family }
) {
  const ofFamily = ({ addressType }: Pick<EndpointSlice, "addressType">) => addressType === family
  const [creates, updates] = [plan.creates.filter(ofFamily), plan.updates.filter(ofFamily)]
  const deletes = plan.deletes.filter(ofFamily)
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      Calls.unlessTerminating(deps.create(draft)),
      failure(`failed to create EndpointSlice for Service ${key}`)
    )
    // Nothing can be created in a terminating namespace, and the Service will be deleted too.
    if (created === undefined) return
    loopState.tracker.written(key, created)
    yield* Metrics.changed("create")
  }
  for (const slice of updates) {
    const what = `failed to update ${slice.metadata.name} EndpointSlice for Service ${key}`
    loopState.tracker.written(key, yield* Effect.mapError(deps.update(slice), failure(what)))
    yield* Metrics.changed("update")
  }
  for (const slice of deletes) yield* remove(deps, loopState, { key, slice, verb: "failed to delete" })
  yield* Metrics.wrote(service, creates.length + updates.length + deletes.length)
})

interface Deletion {
  readonly key: Key.Key
  readonly slice: EndpointSlice
  readonly verb: string
}

const remove = Effect.fnUntraced(function* (deps: Deps, { tracker }: LoopState, { key, slice, verb }: Deletion) {
  const what = `${verb} ${slice.metadata.name} EndpointSlice for Service ${key}`
  yield* Effect.mapError(Calls.unlessGone(deps.remove(slice)), failure(what))
  tracker.deleted(key, slice)
  yield* Metrics.changed("delete")
})

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
