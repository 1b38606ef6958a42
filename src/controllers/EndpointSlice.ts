/**
 * endpointslice: keeps the addresses behind each Service in EndpointSlices, by default of at most 100 endpoints.
 * `endpointslice/` decides and applies, `shared/services/` holds what `endpoint` needs too; this file holds the
 * watches, the permissions and the API calls. Source: pkg/controller/endpointslice: syncService.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { EndpointSlice, Node, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as SliceTracker from "./endpointslice/sliceTracker.ts"
import * as Metrics from "./endpointslice/metrics.ts"
import { makePreferences, type LoopState, type Deps } from "./endpointslice/deps.ts"
import * as Slices from "./endpointslice/slices.ts"
import * as Sync from "./endpointslice/sync.ts"
import * as Triggers from "./endpointslice/triggers.ts"
import * as TopologyCache from "./endpointslice/topologyCache.ts"
import * as Zones from "./endpointslice/zones.ts"
import * as Selection from "./shared/services/selection.ts"
import * as Totals from "./shared/services/totals.ts"
import * as Watching from "./shared/services/serviceTriggers.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-service-endpoint-syncs", 5, "Services whose EndpointSlices are"),
  maxEndpointsPerSlice: Setting.make(Codecs.integer({ min: 1, max: 1000, expected: "a number from 1 to 1000" }), {
    name: "max-endpoints-per-slice",
    group: "tuning",
    description: "Endpoints in one EndpointSlice, at most",
    default: "100"
  }),
  batchPeriod: Watching.batchPeriod(
    "endpointslice-updates-batch-period",
    "pods are gathered before they are written to EndpointSlices"
  )
}

export type Options = Setting.Options<typeof settings>

/** The precondition keeps the call from a slice that was recreated under the same name. */
const sameObject = ({ metadata: { uid } }: EndpointSlice) => (uid === undefined ? {} : { preconditions: { uid } })

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpointslice",
    queue: "endpoint_slice",
    metrics: Metrics.families,
    component: "endpoint-slice-controller",
    for: Service,
    access: [
      Access.read(Service),
      Access.own(Service),
      Access.read(Pod),
      Access.read(Node),
      Access.read(EndpointSlice),
      Access.create(EndpointSlice),
      Access.update(EndpointSlice),
      Access.remove(EndpointSlice),
      Access.record
    ],
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { base: "1 second", max: "1000 seconds" },
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.map(Metrics.holding, (onHeld) => {
        const deps: Deps = {
          services: store(Service),
          pods: store(Pod),
          nodes: store(Node),
          slices: store(EndpointSlice),
          create: (draft) => client.create(EndpointSlice, draft),
          update: (slice) => client.update(EndpointSlice, slice),
          remove: (slice) => client.delete(EndpointSlice, slice.metadata, sameObject(slice)),
          events,
          queue
        }
        const table = Selection.makeTable()
        const loopState: LoopState = {
          table,
          tracker: SliceTracker.make(),
          zones: Zones.make(),
          topologyCache: TopologyCache.make(),
          totals: Totals.make(),
          preferences: makePreferences(),
          limit: Setting.orDefault(options.maxEndpointsPerSlice, settings.maxEndpointsPerSlice),
          minSyncDelay: Duration.max(options.batchPeriod ?? Duration.zero, Triggers.minSyncDelay)
        }
        const sync = Sync.sync(deps, loopState)
        return {
          sources: [
            Controller.watch(Service, Watching.services(table)),
            Controller.watch(Pod, Watching.batched(Watching.pods(table), queue, options.batchPeriod), {
              indexes: [Selection.byLabel, Triggers.byNode]
            }),
            Controller.watch(Node, Triggers.nodes(deps, loopState)),
            Controller.watch(EndpointSlice, Triggers.slices(deps, loopState), { indexes: [Slices.byService] })
          ],
          reconcile: ({ key }) => Effect.as(sync(key), Reconcile.done),
          onHeld
        }
      })
  })
