/**
 * daemonset: keeps one pod of a template on each node that should have one, and updates them node by node. Each template is kept as a
 * ControllerRevision. What a sync does is decided in `daemonset/`; here is what it reads and may do. Source: spec E.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../kube/resources.ts"
import * as Selector from "../kube/Selector.ts"
import * as Controller from "../layers/Controller.ts"
import * as Loop from "./daemonset/loop.ts"
import * as Metrics from "./daemonset/metrics.ts"
import * as Pods from "./daemonset/pods.ts"
import type { Ports } from "./daemonset/ports.ts"
import * as Spec from "./daemonset/spec.ts"
import * as Indexes from "./shared/workload/indexes.ts"
import * as Skips from "./shared/workload/metrics.ts"

export interface Options {
  /** How many DaemonSets are synced at once; 2 unless said otherwise. */
  readonly concurrency?: number | undefined
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "daemonset",
    metrics: Metrics.families,
    component: "daemonset-controller",
    for: DaemonSet,
    access,
    concurrency: options.concurrency ?? 2,
    // A decision on a stale cache is a wrong one: as long as expectations, a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
    body: (tools) =>
      Effect.map(Skips.skipping(Metrics.skips), (onHeld) => {
        const { onNode, onPod, onRevision, onSet, reconcile } = Loop.make(portsOf(tools))
        return {
          sources: [
            Controller.watch(DaemonSet, onSet),
            Controller.watch(Pod, onPod, { indexes: [...Indexes.both, Pods.byPlace] }),
            Controller.watch(ControllerRevision, onRevision, { indexes: Indexes.both }),
            Controller.watch(Node, onNode)
          ],
          reconcile,
          onHeld
        }
      })
  })

const access = [
  Access.read(DaemonSet),
  Access.own(DaemonSet),
  Access.get(DaemonSet),
  Access.update(DaemonSet, "status"),
  Access.read(Node),
  Access.read(Pod),
  Access.list(Pod),
  Access.create(Pod),
  Access.patch(Pod),
  Access.remove(Pod),
  Access.read(ControllerRevision),
  Access.get(ControllerRevision),
  Access.create(ControllerRevision),
  Access.update(ControllerRevision),
  Access.patch(ControllerRevision),
  Access.remove(ControllerRevision),
  Access.record
]

type Tools = Controller.BodyTools<(typeof access)[number]>

const portsOf = ({ client, events, queue, store }: Tools): Ports => ({
  sets: store(DaemonSet),
  pods: store(Pod),
  nodes: store(Node),
  revisions: store(ControllerRevision),
  live: ({ metadata }) => client.get(DaemonSet, metadata),
  livePods: (set) => {
    const selector = Spec.selectorOf(set)
    if (selector === undefined) return Effect.succeed([])
    const options = { namespace: set.metadata.namespace, labelSelector: Selector.formatLabels(selector) }
    return Effect.map(client.list(Pod, options), ({ items }) => items)
  },
  updateStatus: (set) => client.subresource("status").update(DaemonSet, set),
  create: (pod, namespace) => client.create(Pod, pod, { namespace }),
  patch: (pod, patch) => client.patch(Pod, pod.metadata, patch),
  remove: (pod) => client.delete(Pod, pod.metadata),
  createRevision: (draft) => client.create(ControllerRevision, draft),
  liveRevision: ({ metadata: { namespace } }, name) => client.get(ControllerRevision, { namespace, name }),
  updateRevision: (revision) => client.update(ControllerRevision, revision),
  patchRevision: (revision, patch) => client.patch(ControllerRevision, revision.metadata, patch),
  removeRevision: (revision) => client.delete(ControllerRevision, revision.metadata),
  events,
  queue
})
