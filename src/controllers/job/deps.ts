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
  /** Reads the Job of that name from the server. */
  readonly live: (job: Pick<Job, "metadata">) => Call<Job>
  /** Lists the pods that the Job's selector matches on the server; some may have another owner. */
  readonly livePods: (job: Job) => Call<ReadonlyArray<Pod>>
  readonly updateStatus: (job: Job) => Call<Job>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

/** Removes the tracking finalizer. The uid is a precondition: a new pod of the same name keeps its finalizer. */
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

/** The same calls. After a write whose response was lost, the cached Job is not trusted until it equals a live read. */
export const distrustOnUnknownOutcome = (deps: Deps, trust: Handoff.Trust): Deps => {
  const watched = <A>(uid: string | undefined, call: Call<A>) => Handoff.watched(trust, uid, call)
  return {
    ...deps,
    updateStatus: (job) => watched(job.metadata.uid, deps.updateStatus(job)),
    create: (pod, namespace) => watched(pod.metadata.ownerReferences?.[0]?.uid, deps.create(pod, namespace)),
    patch: (pod, patch) => watched(Owner.controllerOf(pod)?.uid, deps.patch(pod, patch)),
    remove: (pod) => watched(Owner.controllerOf(pod)?.uid, deps.remove(pod))
  }
}
