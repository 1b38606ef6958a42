/**
 * endpoint: keeps the addresses behind a Service in the Endpoints object of its name, at most 1,000, for clients that
 * do not read EndpointSlices. `endpoints/` decides and applies, `shared/services/` holds what `endpointslice` needs
 * too; this file holds the watches, the permissions and the API calls. Source: pkg/controller/endpoint: syncService.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import { Endpoints, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Plan from "./endpoints/plan.ts"
import * as Sync from "./endpoints/sync.ts"
import * as Selection from "./shared/services/selection.ts"
import * as Watching from "./shared/services/serviceTriggers.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-endpoint-syncs", 5, "Services whose Endpoints are"),
  batchPeriod: Watching.batchPeriod(
    "endpoint-updates-batch-period",
    "pods are gathered before they are written to Endpoints"
  )
}

export type Options = Setting.Options<typeof settings>

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpoint",
    metrics: Sync.families,
    component: "endpoint-controller",
    for: Service,
    access: [
      Access.read(Service),
      Access.read(Pod),
      Access.read(Endpoints),
      Access.create(Endpoints),
      Access.update(Endpoints),
      Access.remove(Endpoints),
      Access.record
    ],
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.sync(() => {
        const deps: Sync.Deps = {
          services: store(Service),
          pods: store(Pod),
          endpoints: store(Endpoints),
          create: (draft) => client.create(Endpoints, draft),
          update: (endpoints) => client.update(Endpoints, endpoints),
          remove: (endpoints) => client.delete(Endpoints, endpoints.metadata, sameObject(endpoints)),
          events
        }
        const table = Selection.makeTable()
        const sync = Sync.sync(deps, { table, times: new Map() })
        return {
          sources: [
            Controller.watch(Service, Watching.services(table)),
            Controller.watch(Pod, Watching.batched(Watching.pods(table), queue, options.batchPeriod), {
              indexes: [Selection.byLabel]
            }),
            Controller.watch(Endpoints, leftOver)
          ],
          reconcile: ({ key }) => Effect.as(sync(key), Reconcile.done)
        }
      })
  })

/** The precondition keeps the call from an object that was recreated under the same name. */
const sameObject = ({ metadata: { uid } }: Endpoints) => (uid === undefined ? {} : { preconditions: { uid } })

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
