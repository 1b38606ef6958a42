/** What the DaemonSet loop reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import type { ControllerRevision, DaemonSet, Node, Pod } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import type * as PodControl from "../shared/workload/podControl.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Ports extends PodControl.Calls {
  readonly sets: Store.Readable<DaemonSet>
  readonly pods: Store.Readable<Pod>
  readonly nodes: Store.Readable<Node>
  readonly revisions: Store.Readable<ControllerRevision>
  /** The DaemonSet of that name, read from the server. */
  readonly live: (set: DaemonSet) => Call<DaemonSet>
  /** Its pods, and maybe others, read from the server. */
  readonly livePods: (set: DaemonSet) => Call<ReadonlyArray<Pod>>
  readonly updateStatus: (set: DaemonSet) => Call<DaemonSet>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly createRevision: (draft: Draft<ControllerRevision>) => Call<ControllerRevision>
  /** The revision of that name beside the DaemonSet, read from the server. */
  readonly liveRevision: (set: DaemonSet, name: string) => Call<ControllerRevision>
  readonly updateRevision: (revision: ControllerRevision) => Call<ControllerRevision>
  readonly patchRevision: (revision: ControllerRevision, patch: Patch.Patch) => Call<ControllerRevision>
  readonly removeRevision: (revision: ControllerRevision) => Call<unknown>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}
