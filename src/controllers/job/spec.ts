/**
 * Accessors for the spec of a Job, with the defaults for servers that are too old to set them, and for its conditions. Nothing here reads pods.
 * Source: pkg/apis/batch/v1: SetDefaults_Job.
 */
import type { Job } from "../../kube/resources.ts"
import * as Selectors from "../shared/workload/selectors.ts"

export type Status = NonNullable<Job["status"]>
export type Condition = NonNullable<Status["conditions"]>[number]

/** Keeps a finished pod in the API server until the controller has counted it. Source: batch/v1: JobTrackingFinalizer. */
export const finalizer = "batch.kubernetes.io/job-tracking"

/** The default of `managedBy`. Source: batch/v1: JobControllerName. */
export const controllerName = "kubernetes.io/job-controller"

/** The most pods that one sync creates or deletes. Source: pkg/controller/job: MaxPodCreateDeletePerSync. */
export const maxPodsPerSync = 500

/** The most uids and new indexes that one status write counts. Source: pkg/controller/job: MaxUncountedPods. */
export const maxUncountedPods = 500

export const selectorOf = Selectors.memoised((job: Job) => Selectors.readable(job.spec?.selector))

export const selects = Selectors.selecting(selectorOf)

/** A Job that another controller manages is not reconciled. */
export const isManagedElsewhere = ({ spec }: Job): boolean =>
  spec?.managedBy !== undefined && spec.managedBy !== controllerName

export const isSuspended = ({ spec }: Job): boolean => spec?.suspend === true

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === "Indexed"

/** Absent means not indexed: servers before 1.21 do not know the mode. */
export const hasKnownMode = ({ spec }: Job): boolean =>
  spec?.completionMode === undefined || spec.completionMode === "NonIndexed" || spec.completionMode === "Indexed"

export const parallelism = ({ spec }: Job): number => spec?.parallelism ?? 1

/** The number of indexes of an indexed Job; the API server requires `completions` of it. */
export const indexCount = ({ spec }: Job): number => spec?.completions ?? 0

export const backoffLimit = ({ spec }: Job): number =>
  spec?.backoffLimit ?? (spec?.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1)

/** Undefined if failures count for the whole Job, as they do for every Job that is not indexed. */
export const backoffLimitPerIndex = (job: Job): number | undefined =>
  isIndexed(job) ? job.spec?.backoffLimitPerIndex : undefined

/** Whether a pod that is being deleted is replaced only after it has ended. */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === "Failed" || spec?.podFailurePolicy !== undefined

export const isBeingDeleted = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined

/** The condition of that type if its status is True. */
export const trueCondition = ({ status }: Job, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === "True")

/** The condition that marks the Job as finished: Complete or Failed. */
export const terminalCondition = (job: Job): Condition | undefined =>
  trueCondition(job, "Complete") ?? trueCondition(job, "Failed")

export const isFinished = (job: Job): boolean => terminalCondition(job) !== undefined
