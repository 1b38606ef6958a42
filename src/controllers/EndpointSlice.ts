/**
 * endpointslice: keeps the addresses behind each Service in EndpointSlices, by default of at most 100 endpoints.
 * `endpointslice/` decides and applies, `shared/services/` holds what `endpoint` needs too. Source:
 * pkg/controller/endpointslice: syncService.
 */
import * as Effect from "effect/Effect"
import { EndpointSlice, Node, Pod, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Deps from "./endpointslice/deps.ts"
import * as Metrics from "./endpointslice/metrics.ts"
import * as Slices from "./endpointslice/slices.ts"
import * as State from "./endpointslice/state.ts"
import * as Sync from "./endpointslice/sync.ts"
import * as Triggers from "./endpointslice/triggers.ts"
import * as Selection from "./shared/services/selection.ts"
import * as ServiceTriggers from "./shared/services/serviceTriggers.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-service-endpoint-syncs", 5, "Services whose EndpointSlices are"),
  maxEndpointsPerSlice: Setting.make(Codecs.integer({ min: 1, max: 1000, expected: "a number from 1 to 1000" }), {
    name: "max-endpoints-per-slice",
    group: "tuning",
    description: "Endpoints in one EndpointSlice, at most",
    default: "100"
  }),
  batchPeriod: ServiceTriggers.batchPeriod(
    "endpointslice-updates-batch-period",
    "pods are gathered before they are written to EndpointSlices"
  )
}

export type Options = Setting.Options<typeof settings>

// The triggers recognise the slices that the syncs wrote, and keep the selectors of Services and the CPU of zones for them.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpointslice",
    queue: "endpoint_slice",
    metrics: Metrics.families,
    component: "endpoint-slice-controller",
    for: Service,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { base: "1 second", max: "1000 seconds" },
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Metrics.holding, (onHeld) => {
        const { batchPeriod, maxEndpointsPerSlice } = Setting.complete(settings, options)
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
            Controller.watch(EndpointSlice, Triggers.slices(deps, state, batchPeriod), {
              indexes: [Slices.byService]
            })
          ],
          reconcile: ({ key }) => sync(key),
          onHeld
        }
      })
  })
