/** The stores and API calls that the node lifecycle controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import { Lease, Node, Pod } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Nodes from "../shared/nodes/node.ts"

export interface Deps extends Nodes.Calls {
  readonly nodes: Readable<Node>
  readonly leases: Readable<Lease>
  /** With the index `Nodes.byNode`. */
  readonly pods: Readable<Pod>
  readonly updateStatus: (node: Node) => Effect.Effect<Node, ApiError>
  readonly updatePodStatus: (pod: Pod) => Effect.Effect<Pod, ApiError>
  readonly events: EventSink
  readonly queue: Pick<KeyedQueue, "addUnsafe" | "addWithUnsafe">
}

export const access = [
  Access.read(Node),
  Access.get(Node),
  Access.patch(Node),
  Access.update(Node, "status"),
  Access.read(Lease),
  Access.read(Pod),
  Access.update(Pod, "status"),
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  nodes: store(Node),
  leases: store(Lease),
  pods: store(Pod),
  live: (name) => client.get(Node, { name }),
  patch: (name, patch) => client.patch(Node, { name }, patch),
  updateStatus: (node) => client.subresource("status").update(Node, node),
  updatePodStatus: (pod) => client.subresource("status").update(Pod, pod),
  events,
  queue
})
