/** The stores and API calls that the DaemonSet controller depends on, and the access that they need. */
import * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type * as Patch from "../../kube/Patch.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as RevisionControl from "../shared/revisions/revisionControl.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import * as Spec from "./spec.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps extends PodControl.Calls, RevisionControl.Calls<DaemonSet> {
  readonly sets: Store.Readable<DaemonSet>
  readonly pods: Store.Readable<Pod>
  readonly nodes: Store.Readable<Node>
  /** Its pods, and maybe others, read from the server. */
  readonly livePods: (set: DaemonSet) => Call<ReadonlyArray<Pod>>
  readonly updateStatus: (set: DaemonSet) => Call<DaemonSet>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
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
  ...RevisionControl.access,
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...RevisionControl.callsOf(client),
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
  events,
  queue
})

/**
 * The same dependencies, but a create or delete with an unknown outcome marks the cached pods of its set as untrusted.
 */
export const distrustOnUnknownOutcome = (deps: Deps, trust: Handoff.Trust): Deps => ({
  ...deps,
  create: (pod, namespace) =>
    Handoff.watched(trust, pod.metadata.ownerReferences?.[0]?.uid, deps.create(pod, namespace)),
  remove: (pod) => Handoff.watched(trust, Owner.controllerOf(pod)?.uid, deps.remove(pod))
})
