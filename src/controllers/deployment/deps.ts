/** The stores and API calls that the Deployment controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import { Deployment, Pod, ReplicaSet } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  readonly deployments: Store.Readable<Deployment>
  readonly sets: Store.Readable<ReplicaSet>
  readonly pods: Store.Readable<Pod>
  /** The Deployment of that name, read from the server. */
  readonly live: (deployment: Deployment) => Call<Deployment>
  /** Writes the status and, with it, the annotations. */
  readonly updateStatus: (deployment: Deployment) => Call<Deployment>
  /** Writes everything but the status. */
  readonly update: (deployment: Deployment) => Call<Deployment>
  readonly createSet: (draft: Draft<ReplicaSet>) => Call<ReplicaSet>
  /** The ReplicaSet of that name in the Deployment's namespace, read from the server. */
  readonly liveSet: (deployment: Deployment, name: string) => Call<ReplicaSet>
  readonly updateSet: (set: ReplicaSet) => Call<ReplicaSet>
  readonly patchSet: (set: ReplicaSet, patch: Patch.Patch) => Call<ReplicaSet>
  readonly removeSet: (set: ReplicaSet) => Call<unknown>
  readonly events: Pick<EventSink, "event">
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
  Access.read(Deployment),
  Access.own(Deployment),
  Access.get(Deployment),
  Access.update(Deployment),
  Access.update(Deployment, "status"),
  Access.read(ReplicaSet),
  Access.get(ReplicaSet),
  Access.create(ReplicaSet),
  Access.update(ReplicaSet),
  Access.patch(ReplicaSet),
  Access.remove(ReplicaSet),
  Access.read(Pod),
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  deployments: store(Deployment),
  sets: store(ReplicaSet),
  pods: store(Pod),
  live: ({ metadata }) => client.get(Deployment, metadata),
  updateStatus: (deployment) => client.subresource("status").update(Deployment, deployment),
  update: (deployment) => client.update(Deployment, deployment),
  createSet: (draft) => client.create(ReplicaSet, draft),
  liveSet: ({ metadata: { namespace } }, name) => client.get(ReplicaSet, { namespace, name }),
  updateSet: (set) => client.update(ReplicaSet, set),
  patchSet: (set, patch) => client.patch(ReplicaSet, set.metadata, patch),
  removeSet: (set) => client.delete(ReplicaSet, set.metadata),
  events,
  queue
})
