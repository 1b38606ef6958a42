/**
 * taint-eviction: deletes pods that do not, or no longer, tolerate the `NoExecute` taints of their node. The decisions are in `tainteviction/`; this
 * file declares what the loop reads and writes. Source: pkg/controller/tainteviction.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Nodes from "./shared/nodes/node.ts"
import type { Evictions } from "./tainteviction/plan.ts"
import * as Sync from "./tainteviction/sync.ts"
import * as Triggers from "./tainteviction/triggers.ts"

export const make = () =>
  Controller.stateful({
    name: "taint-eviction",
    queue: "noexec_taint_pod",
    metrics: Sync.families,
    component: "taint-eviction-controller",
    for: Pod,
    access: [
      Access.read(Node),
      Access.read(Pod),
      Access.get(Pod),
      Access.patch(Pod, "status"),
      Access.remove(Pod),
      Access.record
    ],
    concurrency: 8,
    body: ({ client, events, store }) =>
      Effect.sync(() => {
        const evictions: Evictions = new Map()
        const [nodes, pods] = [store(Node), store(Pod)]
        const mark = Nodes.marker()
        const ports: Sync.Ports = {
          nodes,
          pods,
          events,
          // Clusters before 1.25 do not grant `get`. The cached pod is safe too, because the deletion has its uid as a precondition.
          live: (pod) =>
            Effect.catchIf(
              client.get(Pod, pod.metadata),
              (error) => ApiError.hasReason(error, "Forbidden"),
              () => Effect.succeed(pod)
            ),
          patchStatus: ({ metadata }, patch) => mark(client.subresource("status").patch(Pod, metadata, patch)),
          remove: ({ metadata }) => {
            const { uid } = metadata
            return client.delete(Pod, metadata, { preconditions: uid === undefined ? undefined : { uid } })
          }
        }
        const sync = Sync.sync(ports, evictions)
        return {
          sources: [
            Controller.watch(Node, Triggers.node(pods, evictions)),
            Controller.watch(Pod, Triggers.pod(nodes, evictions), { indexes: [Nodes.byNode] })
          ],
          reconcile: ({ key }) => sync(key)
        }
      })
  })
