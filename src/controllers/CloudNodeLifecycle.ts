/**
 * cloud-node-lifecycle: asks the cloud provider about the machines of nodes that are not ready. A node without a
 * machine is deleted; one whose machine is shut down gets a taint until it is ready again. Runs only with a cloud
 * provider. Source: cloud-provider/controllers/nodelifecycle: MonitorNodes.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import { Node } from "../kube/resources.ts"
import { CloudProvider, type NodeRef } from "../layers/CloudProvider.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Nodes from "./shared/nodes/node.ts"

export const settings = {
  period: Nodes.monitorPeriod
}

export type Options = Setting.Options<typeof settings>

const access = [Access.read(Node), Access.get(Node), Access.patch(Node), Access.remove(Node), Access.record] as const

type Context = Controller.ReconcileContext<(typeof access)[number]>

export const make = (options: Options = {}) =>
  Controller.scheduled({
    name: "cloud-node-lifecycle",
    metrics: [deletions],
    component: "cloud-node-lifecycle-controller",
    cloud: true,
    access,
    schedule: Schedule.spaced(Setting.orDefault(options.period, settings.period)),
    run: (context) =>
      Effect.flatMap(context.cache.list(Node), (nodes) =>
        Effect.forEach(nodes, (node) => reconcile(context, node), { concurrency: atOnce, discard: true })
      )
  })

/** Nodes checked concurrently. */
const atOnce = 8

const shutdown = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" } as const

/** Whether the machine has to be checked with the cloud provider, because the node is not ready. */
export const isInDoubt = (node: Node): boolean => !Nodes.isReady(node)

/** `gone`: the cloud provider has no such machine. `off`: the machine is shut down. */
type MachineState = "gone" | "off" | "there"

/** The node's taints with or without the shutdown taint; undefined if they are correct. */
export const taints = (node: Node, machine: MachineState): ReadonlyArray<Nodes.Taint> | undefined => {
  if (machine === "off") return Nodes.changed(node, { add: [shutdown] })
  return isInDoubt(node) ? undefined : Nodes.changed(node, { remove: [shutdown] })
}

const reconcile = Effect.fnUntraced(
  function* (context: Context, node: Node) {
    const state = isInDoubt(node) ? yield* stateOf(node) : "there"
    if (state === "gone") return yield* remove(context, node)
    const calls: Nodes.Calls = {
      live: (name) => context.client.get(Node, { name }),
      patch: (name, patch) => context.client.patch(Node, { name }, patch)
    }
    if (yield* Nodes.write(calls, node, (one) => taints(one, state))) {
      yield* Effect.logInfo(state === "off" ? "A node's machine is shut down" : "A node's machine is running")
    }
  },
  (effect, _, { metadata: { name } }) =>
    effect.pipe(
      Effect.catch((error) => Effect.logWarning(`Failed to check a node's machine: ${error.message}`)),
      Effect.annotateLogs({ node: name })
    )
)

const stateOf = Effect.fnUntraced(function* ({ metadata: { name }, spec }: Node) {
  const cloud = yield* CloudProvider
  const node: NodeRef = { name, providerId: spec?.providerID }
  if (!(yield* cloud.exists(node))) return "gone"
  return (yield* cloud.isShutDown(node)) ? "off" : "there"
})

const remove = Effect.fnUntraced(function* ({ client, events }: Context, node: Node) {
  const { name, uid } = node.metadata
  const message = `Deleting node ${name} because it does not exist in the cloud provider`
  yield* events.normal(node, "DeletingNode", message)
  yield* client.delete(Node, { name }, { preconditions: { uid } }).pipe(
    Effect.tap(() => deletions.add(1)),
    Effect.tap(() => Effect.logInfo("Deleted a node whose machine is gone")),
    ApiError.unlessReplaced,
    Effect.tapError((error) =>
      // The next leader deletes it.
      ApiError.hasReason(error, "LeaderFenced")
        ? Effect.void
        : events.warning(node, "DeletingNodeFailed", `Failed deleting node ${name}: ${error.detail}`)
    )
  )
})

const deletions = Family.counter(
  "cloud_node_lifecycle_nodes_deleted_total",
  "Nodes that were deleted because their machine no longer exists in the cloud"
)
