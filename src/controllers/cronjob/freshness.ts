/**
 * Whether the cache can be trusted with a run. It cannot when another term worked on the CronJob before: a standby may be behind what its leader
 * wrote last, and a run that was made and has ended would be made again. It cannot when the answer to a write was lost. Then the server is asked
 * before the next run, once, and only if one is due. Of a CronJob whose runs may not overlap it is also asked for the Jobs of its namespace,
 * once for all of them: a run may have been made that was never written down.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import type { LiveJobs, State } from "./state.ts"
import type * as Decide from "./plan/decide.ts"
import * as Runs from "./plan/runs.ts"
import type { Deps } from "./deps.ts"

/** Whether the run may be made; if not, it is to be asked for again a little later. */
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

/** Whether the server has the CronJob just as the cache does. */
export const isCurrent = Effect.fnUntraced(function* (
  { live }: Deps,
  { metadata }: CronJob
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const found = yield* Effect.result(live(metadata))
  if (Result.isSuccess(found)) {
    const { resourceVersion, uid } = found.success.metadata
    return uid === metadata.uid && resourceVersion === metadata.resourceVersion
  }
  // Gone: the cache will hear of it.
  return ApiError.hasReason(found.failure, "NotFound") ? false : yield* found.failure
})

/** Whether the cache has every run that has not ended. */
const hasAllActiveJobs = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { metadata: { namespace = "", uid = "" } }: CronJob
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const isKnown = (job: Job) => deps.jobs.get(Key.of(job))?.metadata.uid === job.metadata.uid
  const knows = ({ runs }: LiveJobs) => (runs.get(uid) ?? []).every(isKnown)
  const known = state.liveJobs.get(namespace)
  // One that is not known any more may be gone since then.
  if (known !== undefined && known.listedAt > state.distrustedSince(uid) && knows(known)) return true
  const listedAt = state.now()
  const answer = { listedAt, runs: activeByOwner(yield* deps.liveJobs(namespace)) }
  state.liveJobs.set(namespace, answer)
  return knows(answer)
})

/** Those that have not ended, by the uid of the CronJob that controls them. */
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

/** The ports, with which a CronJob whose write may or may not have been done is not ours any more until the cache shows what became of it. */
export const distrustOnUnknownOutcome = (deps: Deps, state: State): Deps => {
  const distrusting = <A>(uid: string | undefined, call: Effect.Effect<A, ApiError.ApiError>) =>
    Effect.tapError(call, (error) =>
      Effect.sync(() => {
        if (uid !== undefined && ApiError.hasReason(error, ...unknownOutcome)) state.distrust(uid)
      })
    )
  return {
    ...deps,
    updateStatus: (cronJob) => distrusting(cronJob.metadata.uid, deps.updateStatus(cronJob)),
    create: (job, namespace) => distrusting(job.metadata.ownerReferences?.[0]?.uid, deps.create(job, namespace))
  }
}

const unknownOutcome = ["Network", "Timeout", "ServerError", "Decode"] as const
