/** The stores and API calls that the mirroring controller depends on, and the access that they need. */
import * as Access from "../../kube/Access.ts"
import { Endpoints, EndpointSlice, Service } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as SliceCalls from "../shared/services/sliceCalls.ts"

export interface Deps extends SliceCalls.Calls {
  readonly services: Store.Readable<Service>
  readonly endpoints: Store.Readable<Endpoints>
  /** With the index `Mirrored.byEndpoints`. */
  readonly slices: Store.Readable<EndpointSlice>
  readonly events: EventSink
}

export const access = [
  Access.read(Service),
  Access.read(Endpoints),
  Access.own(Endpoints),
  ...SliceCalls.access,
  Access.record
] as const

export const depsOf = ({ client, events, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...SliceCalls.callsOf(client),
  services: store(Service),
  endpoints: store(Endpoints),
  slices: store(EndpointSlice),
  events
})
