/**
 * Whether the cache is fresh enough to create a Job. It may not be after a change of leader, because a standby's cache
 * can lag behind the last leader's writes and a finished Job would be created again; nor after a write with an unknown
 * outcome. Then, before the next Job that is due, the CronJob is read from the server. If its Jobs may not overlap, the
 * Jobs of the namespace are listed too, once for all its CronJobs, to find one that was created but not recorded in a
 * status.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import type { LiveJobs, State } from "./state.ts"
import type * as Decide from "./plan/plan.ts"
import * as Runs from "./runs.ts"
import type { Deps } from "./deps.ts"

/** Whether the Job may be created; if not, the caller has to retry a little later. */
export const mayRun = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  cronJob: CronJob,
  run: Decide.Run
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const { uid = "" } = cronJob.metadata
  if (state.isTrusted(uid)) return true
  if (!(yield* isCurrent(deps, cronJob))) return false
  if (run.isAlone && !(yield* hasAllActiveJobs(deps, state, cronJob))) return false
  state.trust(uid)
  return true
})

/** Whether the cached CronJob has the resourceVersion of the live one. */
export const isCurrent = Effect.fnUntraced(function* (
  { live }: Deps,
  { metadata }: CronJob
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const found = yield* Effect.result(live(metadata))
  if (Result.isSuccess(found)) {
    const { resourceVersion, uid } = found.success.metadata
    return uid === metadata.uid && resourceVersion === metadata.resourceVersion
  }
  // Deleted: the watch event will follow.
  return ApiError.hasReason(found.failure, "NotFound") ? false : yield* found.failure
})

/** Whether the cache has every unfinished Job of the CronJob. */
const hasAllActiveJobs = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { metadata: { namespace = "", uid = "" } }: CronJob
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const isKnown = (job: Job) => deps.jobs.get(Key.of(job))?.metadata.uid === job.metadata.uid
  const knows = ({ runs }: LiveJobs) => (runs.get(uid) ?? []).every(isKnown)
  const known = state.liveJobs.get(namespace)
  // A Job that the cache does not have may have been deleted since the list.
  if (known !== undefined && known.listedAt > state.distrustedSince(uid) && knows(known)) return true
  const listedAt = state.now()
  const answer = { listedAt, runs: activeByOwner(yield* deps.liveJobs(namespace)) }
  state.liveJobs.set(namespace, answer)
  return knows(answer)
})

/** Unfinished Jobs, by the uid of their controller. */
const activeByOwner = (jobs: ReadonlyArray<Job>): ReadonlyMap<string, ReadonlyArray<Job>> => {
  const found = new Map<string, Array<Job>>()
  for (const job of jobs) {
    const owner = Owner.controllerOf(job)
    if (owner === undefined || Runs.endOf(job) !== undefined) continue
    const others = found.get(owner.uid)
    if (others === undefined) found.set(owner.uid, [job])
    else others.push(job)
  }
  return found
}
