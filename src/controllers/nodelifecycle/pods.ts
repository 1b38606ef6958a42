/**
 * Pods of a node that is not ready are not ready either: nobody is there to say so but this loop. What a pod's status becomes is a total
 * function; it is written against the version that was read. Source: spec G.4.1.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as PodStatus from "../../kube/pod.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Deps } from "./deps.ts"

/** The pod as it is to be; undefined if it is not ready anyway. `now`: milliseconds since 1970. */
export const notReady = (pod: Pod, now: number): Pod | undefined => {
  if (!PodStatus.isReady(pod)) return undefined
  const { generation } = pod.metadata
  const conditions = pod.status?.conditions?.map((one) =>
    one.type === "Ready"
      ? {
          ...one,
          status: "False",
          lastTransitionTime: Time.format(now),
          ...(generation === undefined ? {} : { observedGeneration: generation })
        }
      : one
  )
  return { ...pod, status: { ...pod.status, ...(conditions === undefined ? {} : { conditions }) } }
}

/** Says it, and tells the user. Answers false if it has to be said again. */
export const markNotReady = Effect.fnUntraced(function* (deps: Pick<Deps, "events" | "updatePodStatus">, pod: Pod) {
  const after = notReady(pod, yield* Clock.currentTimeMillis)
  if (after === undefined) return true
  const written = yield* Effect.result(deps.updatePodStatus(after))
  if (written._tag === "Success") {
    yield* deps.events.warning(pod, "NodeNotReady", "Node is not ready")
    return true
  }
  if (ApiError.hasReason(written.failure, "NotFound")) return true
  // A conflict is no news: the pod is looked at again as it is then.
  if (!ApiError.hasReason(written.failure, "Conflict")) {
    yield* Effect.annotateLogs(Effect.logWarning(`Cannot mark a pod as not ready: ${written.failure.message}`), {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`
    })
  }
  return false
})
