/** The stores and API calls that the DaemonSet controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type * as Patch from "../../kube/Patch.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as RevisionControl from "../shared/revisions/revisionControl.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as PodControl from "../shared/workload/podControl.ts"
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
  ...PodControl.access,
  ...RevisionControl.access,
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...PodControl.callsOf(client),
  ...RevisionControl.callsOf(client),
  sets: store(DaemonSet),
  pods: store(Pod),
  nodes: store(Node),
  revisions: store(ControllerRevision),
  live: ({ metadata }) => client.get(DaemonSet, metadata),
  livePods: (set) => PodControl.list(client, set, Spec.selectorOf(set)),
  updateStatus: (set) => client.subresource("status").update(DaemonSet, set),
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
