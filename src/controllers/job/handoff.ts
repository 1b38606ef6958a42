/**
 * The freshness check of a Job, because a sync on a stale cache could count or create a pod twice. Before the first write of a term that did not
 * observe the Job's creation, and after a write whose response was lost, the cache is compared with a live read of the Job and its pods
 * (`shared/workload/handoff`). The check runs once, and only if there is something to write.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import type { State } from "./state.ts"
import type * as Manage from "./plan/plan.ts"
import type { Snapshot } from "./snapshot.ts"
import * as Tracking from "./status.ts"
import type { Deps } from "./deps.ts"

/** Whether the sync may continue; if not, the caller retries it after the batch period. */
export const mayAct = (
  deps: Deps,
  state: State,
  snapshot: Snapshot,
  decision: Manage.Decision
): Effect.Effect<boolean, ApiError.ApiError> => {
  const { uid = "" } = snapshot.job.metadata
  return state.isOurs(uid) || !acts(snapshot, decision)
    ? Effect.succeed(true)
    : Effect.tap(isCurrent(deps, snapshot), (current) => Effect.sync(() => (current ? state.takeOver(uid) : undefined)))
}

/** Whether the decision leads to a write. */
const acts = (snapshot: Snapshot, { step, verdict, wasManaged }: Manage.Decision): boolean => {
  if (verdict !== undefined || step._tag === "Create" || step._tag === "Delete") return true
  const { hasChanged, removable } = Tracking.count(snapshot, { ...Tracking.unchanged(snapshot), wasManaged })
  return hasChanged || removable.length > 0
}

const isCurrent = Effect.fnUntraced(function* ({ live, livePods }: Deps, { job, pods }: Snapshot) {
  const { resourceVersion, uid } = job.metadata
  const found = yield* Effect.result(live(job))
  if (Result.isFailure(found)) {
    // Deleted: the watch event will follow.
    if (ApiError.hasReason(found.failure, "NotFound")) return false
    return yield* found.failure
  }
  const { metadata } = found.success
  if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion) return false
  const livePodList = yield* livePods(job)
  return Handoff.isSame(
    pods,
    livePodList.filter((pod) => Owner.controlledBy(pod, uid))
  )
})
