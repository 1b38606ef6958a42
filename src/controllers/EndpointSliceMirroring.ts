/**
 * endpointslicemirroring: mirrors the Endpoints of Services without a selector, which users write, to EndpointSlices.
 * `endpointslicemirroring/` decides and applies. Source: pkg/controller/endpointslicemirroring: syncEndpoints.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Key from "../kube/Key.ts"
import { Endpoints, EndpointSlice, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Deps from "./endpointslicemirroring/deps.ts"
import * as Metrics from "./endpointslicemirroring/metrics.ts"
import * as Mirrored from "./endpointslicemirroring/mirrored.ts"
import * as Sync from "./endpointslicemirroring/sync.ts"
import * as ServiceTriggers from "./shared/services/serviceTriggers.ts"
import * as Totals from "./shared/services/totals.ts"

export interface Options {
  /** How many Endpoints are synced at once. Default: 5. */
  readonly concurrency?: number | undefined
  /** Maximum number of addresses of a subset. Default: 1,000, the API's limit. */
  readonly maxEndpointsPerSubset?: number | undefined
  /** How long changes of mirrored slices are batched before a sync. Default: not at all. */
  readonly batchPeriod?: Duration.Duration | undefined
}

// A sync adds to the totals of all syncs.
export const make = ({ batchPeriod, concurrency = 5, maxEndpointsPerSubset = 1000 }: Options = {}) =>
  Controller.stateful({
    name: "endpointslicemirroring",
    queue: "endpoint_slice_mirroring",
    metrics: Metrics.families,
    component: "endpoint-slice-mirroring-controller",
    for: Endpoints,
    access: Deps.access,
    concurrency,
    backoff: { base: "1 second", max: "100 seconds" },
    retries: 15,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.sync(() => {
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
