/**
 * nodelifecycle: marks nodes that stopped reporting as not ready, taints them so that no new pods are scheduled, and evicts their pods at the rate
 * of their zone. The decisions are in `nodelifecycle/`; this file declares what the loop reads and writes. Source: pkg/controller/nodelifecycle.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import { Lease, Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as NoExecute from "./nodelifecycle/noExecute.ts"
import * as Monitor from "./nodelifecycle/monitorNodeHealth.ts"
import * as Metrics from "./nodelifecycle/metrics.ts"
import { type State, isDown, makeState, type Deps, type Settings } from "./nodelifecycle/deps.ts"
import * as Taints from "./nodelifecycle/taints.ts"
import * as NoSchedule from "./nodelifecycle/noSchedule.ts"
import * as Nodes from "./shared/nodes/node.ts"

export interface Options {
  /** Between two passes over all nodes. `--node-monitor-period`, 5 s. */
  readonly period?: Duration.Input | undefined
  /** How long a node may go without a heartbeat. `--node-monitor-grace-period`, 50 s. */
  readonly grace?: Duration.Input | undefined
  /** How long a node that has never reported may take. `--node-startup-grace-period`, 60 s. */
  readonly startupGrace?: Duration.Input | undefined
  /** Nodes per second that are tainted with NoExecute in a zone. `--node-eviction-rate`, 0.1. */
  readonly rate?: number | undefined
  /** The same in a large, partially disrupted zone; in a small one the rate is zero. `--secondary-node-eviction-rate`, 0.01. */
  readonly secondaryRate?: number | undefined
  /** A zone of more nodes is large. `--large-cluster-size-threshold`, 50. */
  readonly largeZone?: number | undefined
  /** Share of nodes not ready, at least three nodes, that makes a zone partially disrupted. `--unhealthy-zone-threshold`, 0.55. */
  readonly unhealthyShare?: number | undefined
}

const settingsOf = (options: Options): Settings => ({
  period: Duration.toMillis(Duration.fromInputUnsafe(options.period ?? "5 seconds")),
  grace: Duration.toMillis(Duration.fromInputUnsafe(options.grace ?? "50 seconds")),
  startupGrace: Duration.toMillis(Duration.fromInputUnsafe(options.startupGrace ?? "1 minute")),
  normal: options.rate ?? 0.1,
  secondary: options.secondaryRate ?? 0.01,
  large: options.largeZone ?? 50,
  unhealthy: options.unhealthyShare ?? 0.55
})

/** The key of the periodic pass: no node can have that name. */
const monitorKey = "*monitor"

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "nodelifecycle",
    queue: "node_lifecycle_controller",
    metrics: Metrics.families,
    component: "node-controller",
    access: [
      Access.read(Node),
      Access.get(Node),
      Access.patch(Node),
      Access.update(Node, "status"),
      Access.read(Lease),
      Access.read(Pod),
      Access.update(Pod, "status"),
      Access.record
    ],
    concurrency: 8,
    body: ({ client, events, queue, store }) =>
      Effect.sync(() => {
        const settings = settingsOf(options)
        const state = makeState(settings)
        const deps: Deps = {
          nodes: store(Node),
          leases: store(Lease),
          pods: store(Pod),
          live: (name) => client.get(Node, { name }),
          patch: (name, patch) => client.patch(Node, { name }, patch),
          updateStatus: (node) => client.subresource("status").update(Node, node),
          updatePodStatus: (pod) => client.subresource("status").update(Pod, pod),
          events,
          queue
        }
        const monitorNodeHealth = Effect.as(
          Monitor.monitorNodeHealth(deps, state, settings),
          Reconcile.after(settings.period)
        )
        const taintNoExecute = NoExecute.taintNoExecute(deps, state)
        const reconcileNode = NoSchedule.node(deps)
        const reconcilePod = NoSchedule.pod(deps, state)
        queue.addUnsafe(monitorKey)
        return {
          sources: [Controller.watch(Node, onNode), Controller.watch(Pod, onPod(state), { indexes: [Nodes.byNode] })],
          reconcile: ({ key, namespace }) => {
            if (key === monitorKey) return monitorNodeHealth
            if (key === Monitor.queueKey) return taintNoExecute
            return namespace === undefined ? reconcileNode(key) : reconcilePod(key)
          }
        }
      })
  })

const none: ReadonlyArray<Key.Key> = []

/** Enqueues nodes whose taints or labels do not match their conditions. */
export const onNode: Trigger.Trigger<Node> = ({ _tag, object }) =>
  _tag !== "Deleted" && (Taints.scheduling(object, 0) !== undefined || Taints.labels(object) !== undefined)
    ? [Key.of(object)]
    : none

/** Enqueues pods that have just been bound to a node that is not ready. */
export const onPod =
  (state: State): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    const name = object.spec?.nodeName
    if (delta._tag === "Deleted" || name === undefined) return none
    if (delta._tag === "Updated" && delta.previous.spec?.nodeName === name) return none
    return isDown(state, name) ? [Key.of(object)] : none
  }
