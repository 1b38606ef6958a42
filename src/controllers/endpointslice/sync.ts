/**
 * One sync of a Service's slices: gathers from the cache, plans, and carries the plan out, creates before updates before deletes, so that no
 * endpoint is without a slice in between. The first call that fails ends it. Source: spec F.3.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Pod, Service } from "../../kube/resources.ts"
import * as Calls from "../services/calls.ts"
import * as Selection from "../services/selection.ts"
import * as TriggerTime from "../services/triggerTime.ts"
import * as Metrics from "./metrics.ts"
import * as Plan from "./plan.ts"
import type { Memory, Ports } from "./ports.ts"
import * as Slices from "./slices.ts"

/** The slices are not as they should be; the message is what users read in an event. */
export class SyncError extends Data.TaggedError("EndpointSliceSyncError")<{
  readonly message: string
  readonly cause: ApiError.ApiError | undefined
}> {}

export const sync =
  (ports: Ports, memory: Memory) =>
  (key: Key.Key): Effect.Effect<void, SyncError> =>
    Effect.suspend(() => {
      const service = ports.services.get(key)
      if (service === undefined) memory.books.forget(key)
      if (service === undefined || Selection.selectorOf(service) === undefined) {
        memory.wishes.forget(key)
        return Metrics.total(memory.totals.forget(key))
      }
      return reconcile(ports, memory, service).pipe(
        Effect.tap(() => Metrics.synced("success")),
        Effect.tapError(({ message }) => Effect.andThen(Metrics.synced("error"), () => tell(ports, service, message)))
      )
    })

const tell = ({ events }: Ports, service: Service, message: string): Effect.Effect<void> =>
  events.warning(
    service,
    "FailedToUpdateEndpointSlices",
    `Error updating Endpoint Slices for Service ${Key.of(service)}: ${message}`
  )

const reconcile = Effect.fnUntraced(function* (ports: Ports, memory: Memory, service: Service) {
  const { books, limit, table, totals, wishes, zones } = memory
  const key = Key.of(service)
  const pods = Selection.podsOf(ports.pods, table, service)
  const { state, time } = TriggerTime.step(books.times.get(key), service, pods)
  const nodeOf = (name: string) => ports.nodes.get(name)
  const plan = Plan.plan({
    service,
    pods,
    slices: slicesOf(ports, memory, key),
    nodeOf,
    time,
    limit,
    shares: zones.shares()
  })
  // Noted before anything is awaited: a node that changes from here on finds what was decided without it.
  const news = wishes.note(key, plan.answers)
  yield* Effect.forEach(news, ({ message, reason, type }) => ports.events.event(service, type, reason, message))
  yield* apply(ports, memory, { key, plan })
  yield* Metrics.total(totals.note(key, plan.sizes))
  books.times.set(key, state)
  if (plan.lost.length > 0) return yield* new SyncError({ message: missing(service, plan.lost), cause: undefined })
})

const slicesOf = ({ slices }: Ports, { books }: Memory, key: Key.Key): ReadonlyArray<EndpointSlice> =>
  slices
    .byIndex(Slices.byService.name, key)
    .filter((slice) => slice.metadata.deletionTimestamp === undefined && !books.isGone(key, slice))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const missing = (service: Service, pods: ReadonlyArray<Pod>): string => {
  const each = pods.map(
    ({ metadata, spec }) =>
      `skipping Pod ${metadata.name} for Service ${Key.of(service)}: Node ${spec?.nodeName ?? ""} Not Found`
  )
  return each.length === 1 ? each.join() : `[${each.join(", ")}]`
}

interface Work {
  readonly key: Key.Key
  readonly plan: Plan.Plan
}

const apply = Effect.fnUntraced(function* (ports: Ports, { books }: Memory, { key, plan }: Work) {
  const { answers, creates, deletes, sizes, updates } = plan
  yield* Metrics.planned(plan)
  if (creates.length + updates.length + deletes.length === 0) return
  for (const draft of creates) {
    const created = yield* Effect.mapError(
      Calls.unlessTerminating(ports.create(draft)),
      failure(`failed to create EndpointSlice for Service ${key}`)
    )
    // Nothing can be created there any more, and the Service will go too.
    if (created === undefined) return
    books.written(key, created)
    yield* Metrics.changed("create")
  }
  for (const slice of updates) {
    const what = `failed to update ${slice.metadata.name} EndpointSlice for Service ${key}`
    books.written(key, yield* Effect.mapError(ports.update(slice), failure(what)))
    yield* Metrics.changed("update")
  }
  for (const slice of deletes) {
    const what = `failed to delete ${slice.metadata.name} EndpointSlice for Service ${key}`
    yield* Effect.mapError(Calls.unlessGone(ports.remove(slice)), failure(what))
    books.deleted(key, slice)
    yield* Metrics.changed("delete")
  }
  yield* Effect.annotateLogs(Effect.logDebug("Changed the slices of a Service"), {
    endpoints: sizes.endpoints,
    ...(answers.length === 0 ? {} : { hints: answers.map(({ outcome }) => outcome._tag).join() }),
    created: creates.length,
    updated: updates.length,
    deleted: deletes.length
  })
})

const failure = (what: string) => (cause: ApiError.ApiError) =>
  new SyncError({ message: `${what}: ${cause.detail}`, cause })
