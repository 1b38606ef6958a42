/**
 * Whether the cache is fresh enough to create a Job (`shared/workload/handoff`): otherwise a finished Job would be created
 * again. Before the next Job that is due, the CronJob is read from the server. If its Jobs may not overlap, the Jobs of the
 * namespace are listed too, once for all its CronJobs, to find one that was created but not recorded in a status.
 */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import type { Deps } from "./deps.ts"
import type { Run } from "./plan/plan.ts"
import * as Runs from "./runs.ts"
import type { LiveJobs, State } from "./state.ts"

/** Whether the Job may be created; if not, the caller has to retry a little later. */
export const mayRun = (
  deps: Deps,
  state: State,
  { cronJob, run }: { readonly cronJob: CronJob; readonly run: Run }
): Effect.Effect<boolean, ApiError> =>
  Handoff.isFresh(state, cronJob.metadata.uid ?? "", [
    Handoff.isSameVersion(cronJob, deps.live(cronJob.metadata)),
    ...(run.isAlone ? [hasAllActiveJobs(deps, state, cronJob)] : [])
  ])

/** Whether the cache has every unfinished Job of the CronJob. */
const hasAllActiveJobs = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { metadata: { namespace = "", uid = "" } }: CronJob
): Effect.fn.Return<boolean, ApiError> {
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
