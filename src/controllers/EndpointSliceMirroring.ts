/**
 * endpointslicemirroring: mirrors the Endpoints of Services without a selector, which users write, to EndpointSlices.
 * `endpointslicemirroring/` decides and applies. Source: pkg/controller/endpointslicemirroring: syncEndpoints.
 */
import * as Effect from "effect/Effect"
import * as Key from "../kube/Key.ts"
import { Endpoints, EndpointSlice, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Deps from "./endpointslicemirroring/deps.ts"
import * as Metrics from "./endpointslicemirroring/metrics.ts"
import * as Mirrored from "./endpointslicemirroring/mirrored.ts"
import * as Sync from "./endpointslicemirroring/sync.ts"
import * as ServiceTriggers from "./shared/services/serviceTriggers.ts"
import * as Totals from "./shared/services/totals.ts"

export const settings = {
  concurrency: Setting.concurrency(
    "mirroring-concurrent-service-endpoint-syncs",
    5,
    "Endpoints that are mirrored to EndpointSlices are"
  ),
  maxEndpointsPerSubset: Setting.make(Codecs.integer({ min: 1, max: 1000, expected: "a number from 1 to 1000" }), {
    name: "mirroring-max-endpoints-per-subset",
    group: "tuning",
    description: "Addresses of a subset of Endpoints that are mirrored to EndpointSlices, at most",
    default: "1000"
  }),
  batchPeriod: ServiceTriggers.batchPeriod(
    "mirroring-endpointslice-updates-batch-period",
    "mirrored EndpointSlices are gathered before they are put right"
  )
}

export type Options = Setting.Options<typeof settings>

// A sync adds to the totals of all syncs.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpointslicemirroring",
    queue: "endpoint_slice_mirroring",
    metrics: Metrics.families,
    component: "endpoint-slice-mirroring-controller",
    for: Endpoints,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { base: "1 second", max: "100 seconds" },
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.sync(() => {
        const { batchPeriod, maxEndpointsPerSubset } = Setting.complete(settings, options)
        const sync = Sync.sync(Deps.depsOf(context), Totals.make(), maxEndpointsPerSubset)
        return {
          sources: [
            Controller.watch(Service, onService),
            Controller.watch(Endpoints, onEndpoints),
            Controller.watch(EndpointSlice, ServiceTriggers.batched(onSlice, context.queue, batchPeriod), {
              indexes: [Mirrored.byEndpoints]
            })
          ],
          reconcile: ({ key }) => sync(key)
        }
      })
  })

/** Endpoints that are or were to be mirrored. */
export const onEndpoints: Trigger<Endpoints> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.isWanted(object) || (delta._tag === "Updated" && Mirrored.isWanted(delta.previous))
  return isOurs ? [Key.of(object)] : none
}

/** A Service without a selector that is created or deleted, or a Service whose selector is added or removed. */
export const onService: Trigger<Service> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.leavesToOthers(object)
  if (delta._tag === "Updated") return Mirrored.leavesToOthers(delta.previous) === isOurs ? none : [Key.of(object)]
  return isOurs ? [Key.of(object)] : none
}

/** The Endpoints of a changed mirrored slice; also after our own writes, where the sync finds nothing to do. */
export const onSlice: Trigger<EndpointSlice> = (delta) => {
  const keys = [Mirrored.endpointsOf(delta.object)]
  if (delta._tag === "Updated") {
    if (delta.previous === delta.object) return none
    keys.push(Mirrored.endpointsOf(delta.previous))
  }
  return [...new Set(keys)].filter((key) => key !== undefined)
}

const none: ReadonlyArray<Key.Key> = []
