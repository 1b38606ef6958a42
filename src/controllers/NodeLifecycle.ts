/**
 * nodelifecycle: marks nodes that stopped reporting as not ready, taints them so that no new pods are scheduled, and evicts their pods at the rate
 * of their zone. `nodelifecycle/` decides and applies. Source: pkg/controller/nodelifecycle.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Key from "../kube/Key.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import { because } from "../streams/reconcile/cause.ts"
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

export const settings = {
  period: Nodes.monitorPeriod,
  grace: Setting.make(Codecs.interval, {
    name: "node-monitor-grace-period",
    group: "tuning",
    description:
      "Time without a heartbeat after which a node is not ready; should be several times the kubelets' interval",
    default: "50s"
  }),
  startupGrace: Setting.make(Codecs.interval, {
    name: "node-startup-grace-period",
    group: "tuning",
    description: "The same for a node that has never sent a heartbeat",
    default: "1m"
  }),
  rate: Setting.make(Codecs.fraction, {
    name: "node-eviction-rate",
    group: "tuning",
    description: "Nodes per second from which pods are evicted, in each zone",
    default: "0.1"
  }),
  secondaryRate: Setting.make(Codecs.fraction, {
    name: "secondary-node-eviction-rate",
    group: "tuning",
    description: "The same in a large zone with partial disruption; in a small one no pods are evicted",
    default: "0.01"
  }),
  largeZone: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "large-cluster-size-threshold",
    group: "tuning",
    description: "Number of nodes above which a zone is large",
    default: "50"
  }),
  unhealthyShare: Setting.make(Codecs.share, {
    name: "unhealthy-zone-threshold",
    group: "tuning",
    description: "Share of not ready nodes, and at least three, from which a zone has partial disruption",
    default: "0.55"
  })
}

export type Options = Setting.Options<typeof settings>

const inMillis = (values: Setting.Values<typeof settings>): State.Settings => ({
  period: Duration.toMillis(values.period),
  grace: Duration.toMillis(values.grace),
  startupGrace: Duration.toMillis(values.startupGrace),
  normal: values.rate,
  secondary: values.secondaryRate,
  large: values.largeZone,
  unhealthy: values.unhealthyShare
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
        const config = inMillis(Setting.complete(settings, options))
        const deps = Deps.depsOf(context)
        const state = State.make(config)
        const monitorNodeHealth = Effect.as(
          MonitorNodeHealth.monitorNodeHealth(deps, state, config),
          Reconcile.after(config.period)
        )
        const taintNoExecute = NoExecute.taintNoExecute(deps, state)
        const reconcileNode = NoSchedule.node(deps)
        const reconcilePod = NoSchedule.pod(deps, state)
        deps.queue.addUnsafe(monitorKey, 0, because("the controller started"))
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
