/** What the Job loop reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Patch from "../../kube/Patch.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
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

/** Takes the finalizer off that pod, and off no namesake. */
export const removeFinalizer = ({ metadata: { uid } }: Pod): Patch.Patch =>
  finalizerPatch(uid === undefined ? {} : { uid })

/** The same, unless the pod has changed: somebody may have taken it in. */
export const removeFinalizerIfUnchanged = ({ metadata: { resourceVersion, uid } }: Pod): Patch.Patch =>
  finalizerPatch({
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  })

const finalizerPatch = (preconditions: object): Patch.Patch =>
  Patch.strategic({ metadata: { ...preconditions, "$deleteFromPrimitiveList/finalizers": [Spec.finalizer] } })
