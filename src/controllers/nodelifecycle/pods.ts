/**
 * Sets Ready to False on pods of a node that is not ready, since the kubelet no longer does. The new status is a total function; it is written
 * against the version that was read. Source: pkg/controller/util/node: MarkPodsNotReady.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as PodStatus from "../../kube/pod.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Deps } from "./deps.ts"

/** The pod with Ready set to False; undefined if it is not ready anyway. `now`: milliseconds since 1970. */
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

/** Writes the condition and records an event. Returns false if it has to be retried. */
export const markNotReady = Effect.fnUntraced(function* (deps: Pick<Deps, "events" | "updatePodStatus">, pod: Pod) {
  const after = notReady(pod, yield* Clock.currentTimeMillis)
  if (after === undefined) return true
  const written = yield* Effect.result(ApiError.unlessGone(deps.updatePodStatus(after)))
  if (written._tag === "Success") {
    if (written.success !== undefined) yield* deps.events.warning(pod, "NodeNotReady", "Node is not ready")
    return true
  }
  // A conflict is not logged: the retry reads the newer pod.
  if (!ApiError.hasReason(written.failure, "Conflict")) {
    yield* Effect.annotateLogs(Effect.logWarning(`Cannot mark a pod as not ready: ${written.failure.message}`), {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`
    })
  }
  return false
})
