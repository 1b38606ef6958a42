/** The dependencies of the StatefulSet loop: the stores it reads, the API calls it makes, and the access that these need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  readonly sets: Store.Readable<StatefulSet>
  readonly pods: Store.Readable<Pod>
  readonly claims: Store.Readable<PersistentVolumeClaim>
  readonly revisions: Store.Readable<ControllerRevision>
  /** The StatefulSet of that name, read from the server. */
  readonly live: (set: StatefulSet) => Call<StatefulSet>
  readonly updateStatus: (set: StatefulSet) => Call<StatefulSet>
  readonly create: (pod: Draft<Pod>, namespace: string | undefined) => Call<Pod>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  /** Deletes this pod, never another one of its name. */
  readonly remove: (pod: Pod) => Call<unknown>
  readonly createClaim: (claim: Draft<PersistentVolumeClaim>) => Call<PersistentVolumeClaim>
  /** Updates the claim, with the resource version of the cached object. */
  readonly updateClaim: (claim: PersistentVolumeClaim) => Call<PersistentVolumeClaim>
  readonly createRevision: (draft: Draft<ControllerRevision>) => Call<ControllerRevision>
  /** The revision of that name beside the StatefulSet, read from the server. */
  readonly liveRevision: (set: StatefulSet, name: string) => Call<ControllerRevision>
  readonly updateRevision: (revision: ControllerRevision) => Call<ControllerRevision>
  readonly patchRevision: (revision: ControllerRevision, patch: Patch.Patch) => Call<ControllerRevision>
  readonly removeRevision: (revision: ControllerRevision) => Call<unknown>
  readonly events: EventSink
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

/** The RBAC rules of the controller. */
export const access = [
  Access.read(StatefulSet),
  Access.own(StatefulSet),
  Access.get(StatefulSet),
  Access.update(StatefulSet, "status"),
  Access.read(Pod),
  // A claim that is deleted with a replica has its pod as owner.
  Access.own(Pod),
  Access.create(Pod),
  Access.patch(Pod),
  Access.remove(Pod),
  Access.read(PersistentVolumeClaim),
  Access.create(PersistentVolumeClaim),
  Access.update(PersistentVolumeClaim),
  // No claim is deleted here: the admission plugin OwnerReferencesPermissionEnforcement requires this right to change owner references.
  Access.remove(PersistentVolumeClaim),
  Access.read(ControllerRevision),
  Access.get(ControllerRevision),
  Access.create(ControllerRevision),
  Access.update(ControllerRevision),
  Access.patch(ControllerRevision),
  Access.remove(ControllerRevision),
  Access.record
]

type BodyTools = Controller.BodyContext<(typeof access)[number]>

export const depsOf = ({ client, events, queue, store }: BodyTools): Deps => ({
  sets: store(StatefulSet),
  pods: store(Pod),
  claims: store(PersistentVolumeClaim),
  revisions: store(ControllerRevision),
  live: ({ metadata }) => client.get(StatefulSet, metadata),
  updateStatus: (set) => client.subresource("status").update(StatefulSet, set),
  create: (pod, namespace) => client.create(Pod, pod, { namespace }),
  patch: (pod, patch) => client.patch(Pod, pod.metadata, patch),
  remove: ({ metadata }) => client.delete(Pod, metadata, { preconditions: { uid: metadata.uid } }),
  createClaim: (claim) => client.create(PersistentVolumeClaim, claim),
  updateClaim: (claim) => client.update(PersistentVolumeClaim, claim),
  createRevision: (draft) => client.create(ControllerRevision, draft),
  liveRevision: ({ metadata: { namespace } }, name) => client.get(ControllerRevision, { namespace, name }),
  updateRevision: (revision) => client.update(ControllerRevision, revision),
  patchRevision: (revision, patch) => client.patch(ControllerRevision, revision.metadata, patch),
  removeRevision: (revision) => client.delete(ControllerRevision, revision.metadata),
  events,
  queue
})
