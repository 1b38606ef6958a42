/**
 * One eviction: records an event, adds the DisruptionTarget condition to the pod, and deletes it; the uid excludes a later pod of the same name.
 * Tried five times in a row, then retried by the queue. Source: pkg/controller/tainteviction: deletePodHandler, addConditionAndDeletePod.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Patch from "../../kube/Patch.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export interface Calls {
  readonly live: (pod: Pod) => Effect.Effect<Pod, ApiError.ApiError>
  readonly patchStatus: (pod: Pod, patch: Patch.Patch) => Effect.Effect<unknown, ApiError.ApiError>
  readonly remove: (pod: Pod) => Effect.Effect<unknown, ApiError.ApiError>
}

const condition = {
  type: "DisruptionTarget",
  status: "True",
  reason: "DeletionByTaintManager",
  message: "Taint manager: deleting due to NoExecute taint"
} as const

/** Sets the condition on the pod; undefined if it is set already. `now`: milliseconds since 1970. */
export const conditionPatch = (pod: Pod, now: number): Patch.Patch | undefined => {
  const before = pod.status?.conditions?.find(({ type }) => type === condition.type)
  const { message, reason, status } = condition
  if (before?.status === status && before.reason === reason && before.message === message) return undefined
  const { generation, uid } = pod.metadata
  const since = before?.status === status ? before.lastTransitionTime : undefined
  const observed = generation === undefined ? {} : { observedGeneration: generation }
  return Patch.strategic({
    metadata: { uid },
    status: { conditions: [{ ...condition, ...observed, lastTransitionTime: since ?? Time.format(now) }] }
  })
}

/**
 * Returns false if the pod no longer existed. A conflict is tried again too: that another pod has the name shows in the read before the next write,
 * and a server also refuses the patch of a pod that others change at the same time.
 */
export const apply = (calls: Calls, pod: Pod): Effect.Effect<boolean, ApiError.ApiError> =>
  once(calls, pod).pipe(
    Effect.retry({
      schedule: Schedule.spaced("10 millis"),
      times: 4,
      while: (error) => !ApiError.hasReason(error, "NotFound", "Forbidden", "LeaderFenced")
    }),
    ApiError.unlessGone,
    Effect.map((isDeleted) => isDeleted === true)
  )

const once = Effect.fnUntraced(function* (calls: Calls, pod: Pod) {
  const found = yield* calls.live(pod)
  if (found.metadata.uid !== pod.metadata.uid) return false
  const patch = conditionPatch(found, yield* Clock.currentTimeMillis)
  if (patch !== undefined) yield* calls.patchStatus(found, patch)
  yield* calls.remove(found)
  yield* Effect.annotateLogs(Effect.logInfo("Deleted a pod because of a taint of its node"), {
    pod: Key.of(pod),
    node: pod.spec?.nodeName
  })
  return true
})
