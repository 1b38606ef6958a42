/**
 * What a DaemonSet asks before its first deed in a term that has not seen it made, and after a write whose answer was lost: whether the cache
 * shows its pods as they are (`workload/handover`). On an old cache a node would get a second pod, or an update would take more nodes at
 * once than it may. Once, and only if something is to be done.
 */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type { DaemonSet, Pod } from "../../kube/resources.ts"
import * as Handover from "../shared/workload/handover.ts"
import type { Ports } from "./ports.ts"

/** `pods`: all that the set has claimed. Whether they are all there are; if not, it is to be asked again a little later. */
export const isCurrent = (
  { livePods }: Pick<Ports, "livePods">,
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

/** The ports, with which a set of whose pods nobody knows whether they were made or deleted is not trusted any more. */
export const doubting = (ports: Ports, trust: Handover.Trust): Ports => ({
  ...ports,
  create: (pod, namespace) =>
    Handover.watched(trust, pod.metadata.ownerReferences?.[0]?.uid, ports.create(pod, namespace)),
  remove: (pod) => Handover.watched(trust, Owner.controllerOf(pod)?.uid, ports.remove(pod))
})
