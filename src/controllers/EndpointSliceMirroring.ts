/**
 * endpointslicemirroring: Endpoints that somebody writes by hand, for a Service without a selector, are shown as slices, which is what nodes read.
 * What a sync does is decided in `endpointslicemirroring/`; here is what it reads and may do. Source: pkg/controller/endpointslicemirroring.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import { Endpoints, EndpointSlice, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Metrics from "./endpointslicemirroring/metrics.ts"
import * as Mirrored from "./endpointslicemirroring/mirrored.ts"
import * as Sync from "./endpointslicemirroring/sync.ts"
import * as Totals from "./shared/services/totals.ts"
import * as Watching from "./shared/services/triggers.ts"

export interface Options {
  /** How many Endpoints are synced at once; 5 unless said otherwise. */
  readonly concurrency?: number | undefined
  /** Addresses of a subset, at most; 1,000 unless said otherwise, which is what the API takes. */
  readonly maxEndpointsPerSubset?: number | undefined
  /** How long changes of mirrored slices are gathered before they are put right; none unless said otherwise. */
  readonly batchPeriod?: Duration.Duration | undefined
}

/** Of the slice that is meant, and of no namesake. */
const sameObject = ({ metadata: { uid } }: EndpointSlice) => (uid === undefined ? {} : { preconditions: { uid } })

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "endpointslicemirroring",
    queue: "endpoint_slice_mirroring",
    metrics: Metrics.families,
    component: "endpoint-slice-mirroring-controller",
    for: Endpoints,
    access: [
      Access.read(Service),
      Access.read(Endpoints),
      Access.own(Endpoints),
      Access.read(EndpointSlice),
      Access.create(EndpointSlice),
      Access.update(EndpointSlice),
      Access.remove(EndpointSlice),
      Access.record
    ],
    concurrency: options.concurrency ?? 5,
    backoff: { base: "1 second", max: "100 seconds" },
    retries: 15,
    // A decision on a stale cache is a wrong one: a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.sync(() => {
        const sync = Sync.sync({
          services: store(Service),
          endpoints: store(Endpoints),
          slices: store(EndpointSlice),
          create: (draft) => client.create(EndpointSlice, draft),
          update: (slice) => client.update(EndpointSlice, slice),
          remove: (slice) => client.delete(EndpointSlice, slice.metadata, sameObject(slice)),
          events,
          totals: Totals.make(),
          limit: options.maxEndpointsPerSubset ?? 1000
        })
        return {
          sources: [
            Controller.watch(Service, onService),
            Controller.watch(Endpoints, onEndpoints),
            Controller.watch(EndpointSlice, Watching.batched(onSlice, queue, options.batchPeriod), {
              indexes: [Mirrored.byEndpoints]
            })
          ],
          reconcile: ({ key }) => Effect.as(sync(key), Reconcile.done)
        }
      })
  })

const none: ReadonlyArray<Key.Key> = []

/** Endpoints that are to be mirrored, or were before. */
export const onEndpoints: Trigger<Endpoints> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.isWanted(object) || (delta._tag === "Updated" && Mirrored.isWanted(delta.previous))
  return isOurs ? [Key.of(object)] : none
}

/** A Service that appears, is deleted, or whose selector appears or is removed. */
export const onService: Trigger<Service> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.leavesToOthers(object)
  if (delta._tag === "Updated") return Mirrored.leavesToOthers(delta.previous) === isOurs ? none : [Key.of(object)]
  return isOurs ? [Key.of(object)] : none
}

/** The Endpoints of a mirrored slice that changed; after our own writes too, where the sync finds nothing to do. */
export const onSlice: Trigger<EndpointSlice> = (delta) => {
  const keys = [Mirrored.endpointsOf(delta.object)]
  if (delta._tag === "Updated") {
    if (delta.previous === delta.object) return none
    keys.push(Mirrored.endpointsOf(delta.previous))
  }
  return [...new Set(keys)].filter((key) => key !== undefined)
}
