/**
 * endpointslicemirroring: Endpoints that somebody writes by hand, for a Service without a selector, are shown as slices, which is what nodes read.
 * What a sync does is decided in `endpointslicemirroring/`; here is what it reads and may do. Source: spec F.4.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { Endpoints, EndpointSlice, Service } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Metrics from "./endpointslicemirroring/metrics.ts"
import * as Mirrored from "./endpointslicemirroring/mirrored.ts"
import * as Sync from "./endpointslicemirroring/sync.ts"
import * as Triggers from "./endpointslicemirroring/triggers.ts"
import * as Totals from "./shared/services/totals.ts"
import * as Watching from "./shared/services/watching.ts"

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
            Controller.watch(Service, Triggers.services),
            Controller.watch(Endpoints, Triggers.endpoints),
            Controller.watch(EndpointSlice, Watching.batched(Triggers.slices, queue, options.batchPeriod), {
              indexes: [Mirrored.byEndpoints]
            })
          ],
          reconcile: ({ key }) => Effect.as(sync(key), Reconcile.done)
        }
      })
  })
