/**
 * daemonset: keeps one pod of the template on each eligible node and updates them node by node. Each template is kept
 * as a ControllerRevision. `daemonset/` decides and applies; this file holds the watches, the permissions and the API
 * calls. Source: pkg/controller/daemon: syncDaemonSet.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import type { Key } from "../kube/Key.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../kube/resources.ts"
import * as Selector from "../kube/Selector.ts"
import * as Controller from "../layers/Controller.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Backoff from "./daemonset/state.ts"
import * as Pods from "./daemonset/pods.ts"
import { distrustOnUnknownOutcome, type Deps } from "./daemonset/deps.ts"
import * as Spec from "./daemonset/spec.ts"
import * as Sync from "./daemonset/sync.ts"
import * as Triggers from "./daemonset/triggers.ts"
import * as Apply from "./daemonset/apply.ts"
import * as Expectations from "./shared/workload/expectations.ts"
import * as Handover from "./shared/workload/handoff.ts"
import * as Indexes from "./shared/workload/indexes.ts"
import * as Skips from "./shared/workload/metrics.ts"

export interface Options {
  /** How many DaemonSets are synced at once. Default: 2. */
  readonly concurrency?: number | undefined
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "daemonset",
    metrics: Apply.metrics,
    component: "daemonset-controller",
    for: DaemonSet,
    access,
    concurrency: options.concurrency ?? 2,
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as
    // long as expectations live.
    readYourWritesLimit: "5 minutes",
    body: (tools) =>
      Effect.map(Skips.skipping(Apply.skips), (onHeld) => {
        const { onNode, onPod, onRevision, onSet, reconcile } = loopOf(depsOf(tools))
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

type Tools = Controller.BodyContext<(typeof access)[number]>

const depsOf = ({ client, events, queue, store }: Tools): Deps => ({
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

/** Triggers and reconcile of one leadership term, with their own state. */
export interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onSet: Trigger<DaemonSet>
  readonly onPod: Trigger<Pod>
  readonly onNode: Trigger<Node>
  readonly onRevision: Trigger<ControllerRevision>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

export const loopOf = (given: Deps): Loop => {
  const expectations = Expectations.make()
  const trust = Handover.trust()
  const deps = distrustOnUnknownOutcome(given, trust)
  const sync = Sync.sync(Apply.make({ deps, expectations, trust, backoff: Backoff.make() }))
  return {
    onSet: Triggers.daemonSet(expectations, trust),
    onPod: Triggers.pod(deps, expectations),
    onNode: Triggers.node(deps),
    onRevision: Triggers.revision(deps),
    reconcile: ({ key }) => sync(key)
  }
}
