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
import type { Answer, Books } from "./state.ts"
import type * as Decide from "./plan/decide.ts"
import * as Runs from "./plan/runs.ts"
import type { Ports } from "./deps.ts"

/** Whether the run may be made; if not, it is to be asked for again a little later. */
export const mayRun = Effect.fnUntraced(function* (
  ports: Ports,
  books: Books,
  cronJob: CronJob,
  run: Decide.Run
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const { uid = "" } = cronJob.metadata
  if (books.isOurs(uid)) return true
  if (!(yield* isCurrent(ports, cronJob))) return false
  if (run.isAlone && !(yield* knowsAll(ports, books, cronJob))) return false
  books.takeOver(uid)
  return true
})

/** Whether the server has the CronJob just as the cache does. */
export const isCurrent = Effect.fnUntraced(function* (
  { live }: Ports,
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
const knowsAll = Effect.fnUntraced(function* (
  ports: Ports,
  books: Books,
  { metadata: { namespace = "", uid = "" } }: CronJob
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const isKnown = (job: Job) => ports.jobs.get(Key.of(job))?.metadata.uid === job.metadata.uid
  const knows = ({ runs }: Answer) => (runs.get(uid) ?? []).every(isKnown)
  const known = books.answers.get(namespace)
  // One that is not known any more may be gone since then.
  if (known !== undefined && known.asked > books.inDoubtSince(uid) && knows(known)) return true
  const asked = books.now()
  const answer = { asked, runs: byOwner(yield* ports.liveJobs(namespace)) }
  books.answers.set(namespace, answer)
  return knows(answer)
})

/** Those that have not ended, by the uid of the CronJob that controls them. */
const byOwner = (jobs: ReadonlyArray<Job>): ReadonlyMap<string, ReadonlyArray<Job>> => {
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
export const doubting = (ports: Ports, books: Books): Ports => {
  const watched = <A>(uid: string | undefined, call: Effect.Effect<A, ApiError.ApiError>) =>
    Effect.tapError(call, (error) =>
      Effect.sync(() => {
        if (uid !== undefined && ApiError.hasReason(error, ...unanswered)) books.disown(uid)
      })
    )
  return {
    ...ports,
    updateStatus: (cronJob) => watched(cronJob.metadata.uid, ports.updateStatus(cronJob)),
    create: (job, namespace) => watched(job.metadata.ownerReferences?.[0]?.uid, ports.create(job, namespace))
  }
}

const unanswered = ["Network", "Timeout", "ServerError", "Decode"] as const
