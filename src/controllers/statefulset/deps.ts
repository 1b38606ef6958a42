/** The stores and API calls that the StatefulSet controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as RevisionControl from "../shared/revisions/revisionControl.ts"
import * as PodControl from "../shared/workload/podControl.ts"

type Call<A> = Effect.Effect<A, ApiError>

/** `remove` deletes this pod, never another one of its name. */
export interface Deps extends PodControl.Calls, RevisionControl.Calls<StatefulSet> {
  readonly sets: Store.Readable<StatefulSet>
  readonly pods: Store.Readable<Pod>
  readonly claims: Store.Readable<PersistentVolumeClaim>
  readonly updateStatus: (set: StatefulSet) => Call<StatefulSet>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly createClaim: (claim: Draft<PersistentVolumeClaim>) => Call<PersistentVolumeClaim>
  /** Updates the claim, with the resource version of the cached object. */
  readonly updateClaim: (claim: PersistentVolumeClaim) => Call<PersistentVolumeClaim>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
  Access.read(StatefulSet),
  Access.own(StatefulSet),
  Access.get(StatefulSet),
  Access.update(StatefulSet, "status"),
  Access.read(Pod),
  // A claim that is deleted with a replica has its pod as owner.
  Access.own(Pod),
  ...PodControl.access,
  Access.read(PersistentVolumeClaim),
  Access.create(PersistentVolumeClaim),
  Access.update(PersistentVolumeClaim),
  // No claim is deleted here: the admission plugin OwnerReferencesPermissionEnforcement requires this right to change owner references.
  Access.remove(PersistentVolumeClaim),
  ...RevisionControl.access,
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...PodControl.callsOf(client),
  ...RevisionControl.callsOf(client),
  sets: store(StatefulSet),
  pods: store(Pod),
  claims: store(PersistentVolumeClaim),
  revisions: store(ControllerRevision),
  live: ({ metadata }) => client.get(StatefulSet, metadata),
  updateStatus: (set) => client.subresource("status").update(StatefulSet, set),
  remove: ({ metadata }) => client.delete(Pod, metadata, { preconditions: { uid: metadata.uid } }),
  createClaim: (claim) => client.create(PersistentVolumeClaim, claim),
  updateClaim: (claim) => client.update(PersistentVolumeClaim, claim),
  events,
  queue
})
