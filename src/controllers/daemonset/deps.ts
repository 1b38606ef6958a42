/** The stores and API calls that the DaemonSet controller depends on. */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import type * as Patch from "../../kube/Patch.ts"
import type { ControllerRevision, DaemonSet, Node, Pod } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Handover from "../shared/workload/handoff.ts"
import type * as PodControl from "../shared/workload/podControl.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps extends PodControl.Calls {
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

/**
 * Whether `pods`, which the set has claimed, are all its pods on the server. If not, the caller has to retry a little
 * later.
 */
export const isCurrent = (
  { livePods }: Pick<Deps, "livePods">,
  trust: Handover.Trust,
  set: DaemonSet,
  pods: ReadonlyArray<Pod>
): Effect.Effect<boolean, ApiError> => {
  const { uid = "" } = set.metadata
  if (trust.isOurs(uid)) return Effect.succeed(true)
  return Effect.map(livePods(set), (live) => {
    const own = live.filter((pod) => Owner.controlledBy(pod, uid))
    const isSame = Handover.isSame(pods, own)
    if (isSame) trust.takeOver(uid)
    return isSame
  })
}

/**
 * The same dependencies, but a create or delete with an unknown outcome marks the cached pods of its set as untrusted.
 */
export const distrustOnUnknownOutcome = (deps: Deps, trust: Handover.Trust): Deps => ({
  ...deps,
  create: (pod, namespace) =>
    Handover.watched(trust, pod.metadata.ownerReferences?.[0]?.uid, deps.create(pod, namespace)),
  remove: (pod) => Handover.watched(trust, Owner.controllerOf(pod)?.uid, deps.remove(pod))
})
