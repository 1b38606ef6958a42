/**
 * Decides whether a Job ends, and for which reason; the first reason in the order of `of` counts. The end is written in two steps: an interim
 * condition and, when no pod is active and all are counted, the terminal condition. A verdict whose interim condition is stored is never revoked.
 * Source: pkg/controller/job: syncJob, ensureJobConditionStatus.
 */
import type { Job, Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Spec from "../spec.ts"
import * as Policies from "./policies.ts"
import * as Indexes from "./indexes.ts"
import type { Snapshot } from "../snapshot.ts"

export interface Verdict {
  readonly ends: "Complete" | "Failed"
  readonly reason: string
  readonly message: string
  /** The interim condition is in the status. */
  readonly isStored: boolean
}

/** The interim condition. */
export const interim = ({ ends, message, reason }: Verdict): Claim => ({
  type: ends === "Complete" ? "SuccessCriteriaMet" : "FailureTarget",
  reason,
  message
})

/** The terminal condition. */
export const terminal = ({ ends, message, reason }: Verdict): Claim => ({ type: ends, reason, message })

const fails = (reason: string, message: string): Verdict => ({ ends: "Failed", reason, message, isStored: false })

export const of = (snapshot: Snapshot): Verdict | undefined =>
  stored(snapshot.job) ?? failure(snapshot) ?? indexFailure(snapshot) ?? success(snapshot)

const stored = (job: Job): Verdict | undefined => {
  const met = Spec.trueCondition(job, "SuccessCriteriaMet")
  const target = met ?? Spec.trueCondition(job, "FailureTarget")
  if (target === undefined) return undefined
  const { message = "", reason = "" } = target
  return { ends: met === undefined ? "Failed" : "Complete", reason, message, isStored: true }
}

const failure = (snapshot: Snapshot): Verdict | undefined => {
  const { failed, job, pods } = snapshot
  const message = Policies.failJobMessage(job, pods)
  if (message !== undefined) return fails("PodFailurePolicy", message)
  if (failed > Spec.backoffLimit(job) || restartsTooOften(job, pods))
    return fails("BackoffLimitExceeded", "Job has reached the specified backoff limit")
  return untilDeadline(snapshot) === 0
    ? fails("DeadlineExceeded", "Job was active longer than specified deadline")
    : undefined
}

/** With restartPolicy OnFailure no pod fails, so the restarts of containers are compared with the backoff limit. */
const restartsTooOften = (job: Job, pods: ReadonlyArray<Pod>): boolean => {
  if (job.spec?.template.spec?.restartPolicy !== "OnFailure") return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue
    for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += one.restartCount
  }
  return restarts >= Math.max(1, Spec.backoffLimit(job))
}

/** Milliseconds until `activeDeadlineSeconds` have passed, zero if they have. Undefined without a deadline or while the Job is suspended. */
export const untilDeadline = ({ job, now, status }: Snapshot): number | undefined => {
  const seconds = job.spec?.activeDeadlineSeconds
  const start = Time.parse(status.startTime)
  if (seconds === undefined || start === undefined || Spec.isSuspended(job)) return undefined
  return Math.max(0, start + seconds * 1000 - now)
}

const indexFailure = ({ job, progress }: Snapshot): Verdict | undefined => {
  if (progress?.failed === undefined) return undefined
  const failed = Indexes.size(progress.failed)
  const limit = job.spec?.maxFailedIndexes
  if (limit !== undefined && failed > limit)
    return fails("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
  return failed > 0 && failed + Indexes.size(progress.succeeded) >= Spec.indexCount(job)
    ? fails("FailedIndexes", "Job has failed indexes")
    : undefined
}

const success = ({ job, progress }: Snapshot): Verdict | undefined => {
  const rule = progress === undefined ? undefined : Policies.matchedSuccess(job, progress.succeeded)
  return rule === undefined
    ? undefined
    : { ends: "Complete", reason: "SuccessPolicy", message: `Matched rules at index ${rule}`, isStored: false }
}

/**
 * The verdict once enough pods have succeeded and none is active. Without `completions` one success is enough, and the Job ends when the other pods
 * have ended.
 */
export const completion = ({ job, succeeded }: Snapshot, active: number): Verdict | undefined =>
  active === 0 && succeeded >= Math.max(0, job.spec?.completions ?? 1)
    ? {
        ends: "Complete",
        reason: "CompletionsReached",
        message: "Reached expected number of succeeded pods",
        isStored: false
      }
    : undefined

/** A condition without its status and times. */
export interface Claim {
  readonly type: string
  readonly reason: string
  readonly message: string
}

const conditionOf = ({ message, reason, type }: Claim, status: "True" | "False", now: number): Spec.Condition => {
  const at = Time.format(now)
  return { type, status, lastProbeTime: at, lastTransitionTime: at, reason, message }
}

/**
 * The list with the condition set to this status: replaced in place with new times if it changes, or appended. A missing condition is not added with
 * status False. Returns the same list if nothing changes.
 */
export const ensure = (
  before: ReadonlyArray<Spec.Condition> | undefined,
  claim: Claim,
  status: "True" | "False",
  now: number
): ReadonlyArray<Spec.Condition> | undefined => {
  const found = before?.find(({ type }) => type === claim.type)
  if (found === undefined) return status === "False" ? before : [...(before ?? []), conditionOf(claim, status, now)]
  if (found.status === status && found.reason === claim.reason && found.message === claim.message) return before
  return before?.map((condition) => (condition === found ? conditionOf(claim, status, now) : condition))
}
