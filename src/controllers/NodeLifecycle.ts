/**
 * nodelifecycle: marks nodes that stopped reporting as not ready, taints them so that no new pods are scheduled, and evicts their pods at the rate
 * of their zone. `nodelifecycle/` decides and applies. Source: pkg/controller/nodelifecycle.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Key from "../kube/Key.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../streams/store/trigger.ts"
import * as Deps from "./nodelifecycle/deps.ts"
import * as Metrics from "./nodelifecycle/metrics.ts"
import * as MonitorNodeHealth from "./nodelifecycle/monitorNodeHealth.ts"
import * as NoExecute from "./nodelifecycle/noExecute.ts"
import * as NoSchedule from "./nodelifecycle/noSchedule.ts"
import * as State from "./nodelifecycle/state.ts"
import * as Taints from "./nodelifecycle/taints.ts"
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

const settingsOf = (options: Options): State.Settings => ({
  period: Duration.toMillis(Duration.fromInputUnsafe(options.period ?? "5 seconds")),
  grace: Duration.toMillis(Duration.fromInputUnsafe(options.grace ?? "50 seconds")),
  startupGrace: Duration.toMillis(Duration.fromInputUnsafe(options.startupGrace ?? "1 minute")),
  normal: options.rate ?? 0.1,
  secondary: options.secondaryRate ?? 0.01,
  large: options.largeZone ?? 50,
  unhealthy: options.unhealthyShare ?? 0.55
})

// A pass keeps the heartbeats of nodes and the states of zones for the next one, and the triggers read them.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "nodelifecycle",
    queue: "node_lifecycle_controller",
    metrics: Metrics.families,
    component: "node-controller",
    access: Deps.access,
    concurrency: 8,
    body: (context) =>
      Effect.sync(() => {
        const settings = settingsOf(options)
        const deps = Deps.depsOf(context)
        const state = State.make(settings)
        const monitorNodeHealth = Effect.as(
          MonitorNodeHealth.monitorNodeHealth(deps, state, settings),
          Reconcile.after(settings.period)
        )
        const taintNoExecute = NoExecute.taintNoExecute(deps, state)
        const reconcileNode = NoSchedule.node(deps)
        const reconcilePod = NoSchedule.pod(deps, state)
        deps.queue.addUnsafe(monitorKey)
        return {
          sources: [Controller.watch(Node, onNode), Controller.watch(Pod, onPod(state), { indexes: [Nodes.byNode] })],
          reconcile: ({ key, namespace }) => {
            if (key === monitorKey) return monitorNodeHealth
            if (key === MonitorNodeHealth.queueKey) return taintNoExecute
            return namespace === undefined ? reconcileNode(key) : reconcilePod(key)
          }
        }
      })
  })

/** The key of the periodic pass: no node can have that name. */
const monitorKey = "*monitor"

/** Enqueues nodes whose taints or labels do not match their conditions. */
export const onNode: Trigger.Trigger<Node> = ({ _tag, object }) =>
  _tag !== "Deleted" && (Taints.scheduling(object, 0) !== undefined || Taints.labels(object) !== undefined)
    ? [Key.of(object)]
    : none

/** Enqueues pods that have just been bound to a node that is not ready. */
export const onPod =
  (state: State.State): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    const name = object.spec?.nodeName
    if (delta._tag === "Deleted" || name === undefined) return none
    if (delta._tag === "Updated" && delta.previous.spec?.nodeName === name) return none
    return State.isDown(state, name) ? [Key.of(object)] : none
  }

const none: ReadonlyArray<Key.Key> = []
