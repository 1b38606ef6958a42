/** What the StatefulSet loop reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../kube/resources.ts"
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
  /** This pod, and never another one of its name. */
  readonly remove: (pod: Pod) => Call<unknown>
  readonly createClaim: (claim: Draft<PersistentVolumeClaim>) => Call<PersistentVolumeClaim>
  /** The claim in the version that the cache had. */
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
