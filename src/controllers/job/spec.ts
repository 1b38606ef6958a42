/**
 * Accessors for the spec of a Job, with the defaults for servers that are too old to set them, and for its conditions. Nothing here reads pods.
 * Source: pkg/apis/batch/v1: SetDefaults_Job.
 */
import type { Job } from "../../kube/resources.ts"

export type Status = NonNullable<Job["status"]>
export type Condition = NonNullable<Status["conditions"]>[number]

/** On a pod that is not counted yet: it keeps the finished pod in the API until it is counted. */
export const finalizer = "batch.kubernetes.io/job-tracking"

/** The default of `managedBy`. */
export const manager = "kubernetes.io/job-controller"

/** The limit of pods created or deleted in one sync, and of uids in `uncountedTerminatedPods`. */
export const limit = 500

/** Managed by another controller: not reconciled at all. */
export const isManagedElsewhere = ({ spec }: Job): boolean =>
  spec?.managedBy !== undefined && spec.managedBy !== manager

export const isSuspended = ({ spec }: Job): boolean => spec?.suspend === true

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === "Indexed"

/** Absent means not indexed: servers before 1.21 do not know the mode. */
export const hasKnownMode = ({ spec }: Job): boolean =>
  spec?.completionMode === undefined || spec.completionMode === "NonIndexed" || spec.completionMode === "Indexed"

export const parallelism = ({ spec }: Job): number => spec?.parallelism ?? 1

/** How many indexes an indexed Job has; the server demands that it says so. */
export const indexCount = ({ spec }: Job): number => spec?.completions ?? 0

export const backoffLimit = ({ spec }: Job): number =>
  spec?.backoffLimit ?? (spec?.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1)

/** Undefined: failures count for all indexes together. Of indexed Jobs only. */
export const backoffLimitPerIndex = (job: Job): number | undefined =>
  isIndexed(job) ? job.spec?.backoffLimitPerIndex : undefined

/** A pod that is being deleted keeps its place until it has ended. */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === "Failed" || spec?.podFailurePolicy !== undefined

export const isLeaving = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined

/** The condition of that type, if it holds. */
export const trueCondition = ({ status }: Job, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === "True")

/** The condition that ended it for good. */
export const terminalCondition = (job: Job): Condition | undefined =>
  trueCondition(job, "Complete") ?? trueCondition(job, "Failed")

export const isFinished = (job: Job): boolean => terminalCondition(job) !== undefined
