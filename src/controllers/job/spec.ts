/**
 * What a Job asks for, read from its spec with the defaults of a server that is too old to fill them in, and what its status says of
 * its end. Nothing here looks at pods. Source: spec D.1, D.3, D.4.
 */
import type { Job } from "../../kube/resources.ts"

export type Status = NonNullable<Job["status"]>
export type Condition = NonNullable<Status["conditions"]>[number]

/** On a pod that is not counted yet: it keeps the pod, and with it how the pod ended. */
export const finalizer = "batch.kubernetes.io/job-tracking"

/** Who manages a Job that does not say otherwise. */
export const manager = "kubernetes.io/job-controller"

/** As many pods are made or deleted, and as many uids wait in the status, at most. */
export const limit = 500

/** Somebody else's: it is left alone altogether. */
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
