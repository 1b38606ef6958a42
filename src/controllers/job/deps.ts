/** The dependencies of the Job loop: the stores it reads and the API calls it makes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import * as Patch from "../../kube/Patch.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import * as Spec from "./spec.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps extends PodControl.Calls {
  readonly jobs: Store.Readable<Job>
  readonly pods: Store.Readable<Pod>
  /** The Job of that name, read from the server. */
  readonly live: (job: Pick<Job, "metadata">) => Call<Job>
  /** Its pods, and maybe others, read from the server. */
  readonly livePods: (job: Job) => Call<ReadonlyArray<Pod>>
  readonly updateStatus: (job: Job) => Call<Job>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

/** Removes the finalizer from that pod, and never from another pod of its name. */
export const removeFinalizer = ({ metadata: { uid } }: Pod): Patch.Patch =>
  finalizerPatch(uid === undefined ? {} : { uid })

/** The same, unless the pod has changed since it was read: another owner may have adopted it. */
export const removeFinalizerIfUnchanged = ({ metadata: { resourceVersion, uid } }: Pod): Patch.Patch =>
  finalizerPatch({
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  })

const finalizerPatch = (preconditions: object): Patch.Patch =>
  Patch.strategic({ metadata: { ...preconditions, "$deleteFromPrimitiveList/finalizers": [Spec.finalizer] } })

/** The same calls; after a write whose answer was lost, the Job is not trusted until a live read agrees with the cache. */
export const distrustUnanswered = (deps: Deps, trust: Handoff.Trust): Deps => {
  const watched = <A>(uid: string | undefined, call: Call<A>) => Handoff.watched(trust, uid, call)
  return {
    ...deps,
    updateStatus: (job) => watched(job.metadata.uid, deps.updateStatus(job)),
    create: (pod, namespace) => watched(pod.metadata.ownerReferences?.[0]?.uid, deps.create(pod, namespace)),
    patch: (pod, patch) => watched(Owner.controllerOf(pod)?.uid, deps.patch(pod, patch)),
    remove: (pod) => watched(Owner.controllerOf(pod)?.uid, deps.remove(pod))
  }
}
