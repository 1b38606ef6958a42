/** The stores and API calls that the disruption controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet
} from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type { Scales } from "../shared/scale/scales.ts"
import type * as ExpectedScale from "./expectedScale.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps extends ExpectedScale.Deps {
  readonly budgets: Readable<PodDisruptionBudget>
  readonly pods: Readable<Pod>
  readonly updateStatus: (budget: PodDisruptionBudget) => Call<PodDisruptionBudget>
  readonly patchPodStatus: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly events: EventSink
}

export const access = [
  Access.read(PodDisruptionBudget),
  Access.update(PodDisruptionBudget, "status"),
  Access.read(Pod),
  Access.patch(Pod, "status"),
  Access.read(ReplicationController),
  Access.read(ReplicaSet),
  Access.read(Deployment),
  Access.read(StatefulSet),
  Access.get(Resource.anything, "scale"),
  Access.record
] as const

export const depsOf = (
  { client, events, store }: Controller.BodyContext<(typeof access)[number]>,
  scales: Scales
): Deps => ({
  budgets: store(PodDisruptionBudget),
  pods: store(Pod),
  replicationControllers: store(ReplicationController),
  replicaSets: store(ReplicaSet),
  deployments: store(Deployment),
  statefulSets: store(StatefulSet),
  scaleOf: scales.get,
  updateStatus: (budget) => client.subresource("status").update(PodDisruptionBudget, budget),
  patchPodStatus: ({ metadata }, patch) => client.subresource("status").patch(Pod, metadata, patch),
  events
})
