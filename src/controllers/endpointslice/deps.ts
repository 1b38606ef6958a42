/** The stores and API calls that the EndpointSlice controller depends on, and the access that they need. */
import * as Access from "../../kube/Access.ts"
import { EndpointSlice, Node, Pod, Service } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as SliceCalls from "../shared/services/sliceCalls.ts"

export interface Deps extends SliceCalls.Calls {
  readonly services: Store.Readable<Service>
  /** With the indexes `Selection.byLabel` and `Triggers.byNode`. */
  readonly pods: Store.Readable<Pod>
  readonly nodes: Store.Readable<Node>
  /** With the index `Slices.byService`. */
  readonly slices: Store.Readable<EndpointSlice>
  readonly events: EventSink
  /** For keys that are synced after a delay. */
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
  Access.read(Service),
  Access.own(Service),
  Access.read(Pod),
  Access.read(Node),
  ...SliceCalls.access,
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...SliceCalls.callsOf(client),
  services: store(Service),
  pods: store(Pod),
  nodes: store(Node),
  slices: store(EndpointSlice),
  events,
  queue
})
