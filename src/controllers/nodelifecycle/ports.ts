/** What the loop of nodes reads and may do, and what it can be told. The declaration fills them in; everything else here knows no client. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Lease, Node, Pod } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Nodes from "../shared/nodes/node.ts"
import type { Patience } from "./health.ts"
import type { Rates } from "./zones.ts"

export interface Ports extends Nodes.Calls {
  readonly nodes: Readable<Node>
  readonly leases: Readable<Lease>
  /** With the index `Nodes.byNode`. */
  readonly pods: Readable<Pod>
  readonly updateStatus: (node: Node) => Effect.Effect<Node, ApiError>
  readonly updatePodStatus: (pod: Pod) => Effect.Effect<Pod, ApiError>
  readonly events: EventSink
  readonly queue: Pick<KeyedQueue, "addUnsafe" | "addWithUnsafe">
}

/** All times in milliseconds. */
export interface Settings extends Patience, Rates {
  /** Between two looks. `--node-monitor-period`. */
  readonly period: number
}
