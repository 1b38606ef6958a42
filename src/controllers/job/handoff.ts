/**
 * What a Job asks before its first deed in a term that did not begin it, and after a write whose answer was lost: whether the cache shows the Job
 * and its pods as they are (`workload/handover`). On an old cache a pod would be counted again, or made again. Once, and only if something
 * is to be done.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import type { State } from "./state.ts"
import type * as Manage from "./plan/manage.ts"
import type { Snapshot } from "./plan/snapshot.ts"
import * as Tracking from "./plan/tracking.ts"
import type { Deps } from "./deps.ts"

/** Whether the sync may go on; if not, it is to be asked for again a little later. */
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

/** What would only be said again in other words may wait; everything else is a deed. */
const acts = (snapshot: Snapshot, { step, verdict, wasManaged }: Manage.Decision): boolean => {
  if (verdict !== undefined || step._tag === "Create" || step._tag === "Delete") return true
  const { hasChanged, removable } = Tracking.count(snapshot, { ...Tracking.unchanged(snapshot), wasManaged })
  return hasChanged || removable.length > 0
}

const isCurrent = Effect.fnUntraced(function* ({ live, livePods }: Deps, { job, pods }: Snapshot) {
  const { resourceVersion, uid } = job.metadata
  const found = yield* Effect.result(live(job))
  if (Result.isFailure(found)) {
    // Gone: the cache will hear of it.
    if (ApiError.hasReason(found.failure, "NotFound")) return false
    return yield* found.failure
  }
  const { metadata } = found.success
  if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion) return false
  const there = yield* livePods(job)
  return Handoff.isSame(
    pods,
    there.filter((pod) => Owner.controlledBy(pod, uid))
  )
})
