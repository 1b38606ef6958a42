/**
 * endpoint: keeps the addresses behind a Service in the Endpoints object of its name, at most 1,000, for clients that
 * do not read EndpointSlices. The Endpoints of a deleted Service are deleted. `endpoints/` decides, `shared/services/`
 * holds what `endpointslice` needs too. Source: pkg/controller/endpoint: syncService.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import { Endpoints, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Plan from "./endpoints/plan.ts"
import * as Subsets from "./endpoints/subsets.ts"
import * as Selection from "./shared/services/selection.ts"
import * as ServiceTriggers from "./shared/services/serviceTriggers.ts"
import * as TriggerTime from "./shared/services/triggerTime.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-endpoint-syncs", 5, "Services whose Endpoints are"),
  batchPeriod: ServiceTriggers.batchPeriod(
    "endpoint-updates-batch-period",
    "pods are gathered before they are written to Endpoints"
  )
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(Service),
  Access.read(Pod),
  Access.read(Endpoints),
  Access.create(Endpoints),
  Access.update(Endpoints),
  Access.remove(Endpoints),
  Access.record
] as const

type Context = Controller.ReconcileContext<(typeof access)[number]>

// The triggers keep a table of selectors, and a sync the trigger times of the last one.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpoint",
    metrics: families,
    component: "endpoint-controller",
    for: Service,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.sync(() => {
        const { queue, store } = context
        const [services, pods, endpoints] = [store(Service), store(Pod), store(Endpoints)]
        const { batchPeriod } = Setting.complete(settings, options)
        const table = Selection.makeTable()
        /** The trigger times of the last sync, by Service. */
        const times = new Map<Key.Key, TriggerTime.State>()
        return {
          sources: [
            Controller.watch(Service, ServiceTriggers.services(table)),
            Controller.watch(Pod, ServiceTriggers.batched(ServiceTriggers.pods(table), queue, batchPeriod), {
              indexes: [Selection.byLabel]
            }),
            Controller.watch(Endpoints, leftOver)
          ],
          reconcile: Effect.fnUntraced(function* ({ key }) {
            const service = services.get(key)
            const current = endpoints.get(key)
            if (service === undefined) {
              times.delete(key)
              if (current !== undefined) yield* remove(context, current)
              return
            }
            if (Selection.selectorOf(service) === undefined) return
            const selected = Selection.podsOf(pods, table, service)
            const { state, time } = TriggerTime.step(times.get(key), service, selected)
            yield* apply(context, service, Plan.plan({ service, pods: selected, current, time }))
            times.set(key, state)
          })
        }
      })
  })

/**
 * Endpoints of the initial list may have lost their Service before this process started; deleted ones are recreated.
 * Other changes by other clients enqueue nothing. Source: pkg/controller/endpoint: checkLeftoverEndpoints,
 * onEndpointsDelete.
 */
const leftOver: Trigger.Trigger<Endpoints> = (delta) => {
  const { object } = delta
  if (delta._tag === "Deleted") return [Key.of(object)]
  const wasThere = delta._tag === "Created" && delta.initial
  return wasThere && object.metadata.annotations?.[Plan.leader] === undefined ? [Key.of(object)] : none
}

const none: ReadonlyArray<Key.Key> = []

const apply = Effect.fnUntraced(function* ({ client, events }: Context, service: Service, plan: Plan.Plan) {
  const { name, namespace } = service.metadata
  switch (plan._tag) {
    case "None":
      return
    case "Create": {
      const created = yield* ApiError.unlessTerminating(
        client.create(Endpoints, plan.draft, { returns: "metadata" })
      ).pipe(
        Effect.tapError(({ detail }) => {
          const why = `Failed to create endpoint for service ${namespace}/${name}: ${detail}`
          return events.warning(named(service), "FailedToCreateEndpoint", why)
        })
      )
      // Nothing can be created in a terminating namespace, and the Service will be deleted too.
      if (created !== undefined) yield* changed("create", Subsets.size(plan.draft.subsets ?? []))
      return
    }
    case "Update": {
      const { endpoints } = plan
      yield* Effect.tapError(client.update(Endpoints, endpoints, { returns: "metadata" }), ({ detail }) => {
        const why = `Failed to update endpoint ${namespace}/${name}: ${detail}`
        return events.warning(endpoints, "FailedToUpdateEndpoint", why)
      })
      return yield* changed("update", Subsets.size(endpoints.subsets ?? []))
    }
  }
})

/** A reference to Endpoints that do not exist, for their events. */
const named = ({ metadata: { name, namespace } }: Service): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) }
})

/** The precondition keeps the call from an object that was recreated under the same name. */
const remove = ({ client }: Context, { metadata }: Endpoints) =>
  ApiError.unlessGone(
    Effect.tap(client.delete(Endpoints, metadata, { preconditions: { uid: metadata.uid } }), () => changed("delete", 0))
  )

const changes = Family.counter("endpoint_controller_changes_total", "Writes of Endpoints, by operation", ["operation"])

const families = [changes]

const changed = (operation: "create" | "update" | "delete", addresses: number): Effect.Effect<void> =>
  Effect.andThen(
    changes.add(1, { operation }),
    Effect.annotateLogs(Effect.logDebug("Wrote the Endpoints of a Service"), { operation, addresses })
  )
