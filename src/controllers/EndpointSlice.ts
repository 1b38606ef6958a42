/**
 * endpointslice: keeps the addresses behind each Service in slices of a hundred, from where every node reads them. What a sync does is decided in
 * `endpointslice/`, what it shares with `endpoint` is in `services/`; here is what it reads and may do. Source: pkg/controller/endpointslice:
 * syncService.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { EndpointSlice, Node, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
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
import * as Watching from "./shared/services/triggers.ts"

export interface Options {
  /** How many Services are synced at once; 5 unless said otherwise. */
  readonly concurrency?: number | undefined
  /** Endpoints in a slice, at most; 100 unless said otherwise. The API takes no more than 1,000. */
  readonly maxEndpointsPerSlice?: number | undefined
  /** How long changes of pods are gathered before they are written; none unless said otherwise. */
  readonly batchPeriod?: Duration.Duration | undefined
}

/** Of the slice that is meant, and of no namesake. */
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
    concurrency: options.concurrency ?? 5,
    backoff: { base: "1 second", max: "1000 seconds" },
    retries: 15,
    // A decision on a stale cache is a wrong one: a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
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
          limit: options.maxEndpointsPerSlice ?? 100,
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
