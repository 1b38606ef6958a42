/**
 * endpointslice: keeps the addresses behind each Service in EndpointSlices, by default of at most 100 endpoints.
 * `endpointslice/` decides and applies, `shared/services/` holds what `endpoint` needs too. Source:
 * pkg/controller/endpointslice: syncService.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { EndpointSlice, Node, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Deps from "./endpointslice/deps.ts"
import * as Metrics from "./endpointslice/metrics.ts"
import * as Slices from "./endpointslice/slices.ts"
import * as State from "./endpointslice/state.ts"
import * as Sync from "./endpointslice/sync.ts"
import * as Triggers from "./endpointslice/triggers.ts"
import * as Selection from "./shared/services/selection.ts"
import * as ServiceTriggers from "./shared/services/serviceTriggers.ts"

export interface Options {
  /** How many Services are synced at once. Default: 5. */
  readonly concurrency?: number | undefined
  /** Maximum number of endpoints in a slice. Default: 100; the API allows 1,000. */
  readonly maxEndpointsPerSlice?: number | undefined
  /** How long pod changes are batched before a sync. Default: not at all. */
  readonly batchPeriod?: Duration.Duration | undefined
}

// The triggers recognise the slices that the syncs wrote, and keep the selectors of Services and the CPU of zones for them.
export const make = ({ batchPeriod, concurrency = 5, maxEndpointsPerSlice = 100 }: Options = {}) =>
  Controller.stateful({
    name: "endpointslice",
    queue: "endpoint_slice",
    metrics: Metrics.families,
    component: "endpoint-slice-controller",
    for: Service,
    access: Deps.access,
    concurrency,
    backoff: { base: "1 second", max: "1000 seconds" },
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Metrics.holding, (onHeld) => {
        const deps = Deps.depsOf(context)
        const state = State.make()
        const sync = Sync.sync(deps, state, maxEndpointsPerSlice)
        return {
          sources: [
            Controller.watch(Service, ServiceTriggers.services(state.table)),
            Controller.watch(Pod, ServiceTriggers.batched(ServiceTriggers.pods(state.table), deps.queue, batchPeriod), {
              indexes: [Selection.byLabel, Triggers.byNode]
            }),
            Controller.watch(Node, Triggers.nodes(deps, state)),
            Controller.watch(EndpointSlice, Triggers.slices(deps, state, batchPeriod), { indexes: [Slices.byService] })
          ],
          reconcile: ({ key }) => sync(key),
          onHeld
        }
      })
  })
