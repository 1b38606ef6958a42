/**
 * What the Job loop reads from a pod: whether it is still to be counted, its completion index, the failures of that index before it, and when it
 * finished. Times are milliseconds since 1970. Source: pkg/controller/job: getCompletionIndex, getIndexFailureCount, getFinishedTime.
 */
import * as Finalizers from "../../kube/finalizers.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Spec from "./spec.ts"

/** The label and the annotation with the pod's completion index. */
export const indexKey = "batch.kubernetes.io/job-completion-index"

/** Annotations with the earlier failures of the pod's index: those that counted, and those that a policy ignored. */
export const failuresKey = "batch.kubernetes.io/job-index-failure-count"
export const ignoredFailuresKey = "batch.kubernetes.io/job-index-ignored-failure-count"

/** Whether the pod has the tracking finalizer, so that it exists until it is counted. */
export const isTracked = (pod: Pod): boolean => Finalizers.has(pod, Spec.finalizer)

export const uidOf = ({ metadata }: Pod): string => metadata.uid ?? ""

/** The completion index from 0; undefined if the annotation is absent or cannot be parsed. */
export const indexOf = ({ metadata }: Pod): number | undefined => {
  const text = metadata.annotations?.[indexKey]
  return text === undefined || !/^\d{1,10}$/.test(text) ? undefined : Number(text)
}

/** The completion index if it is below the Job's completions. */
export const validIndexOf = (pod: Pod, job: Job): number | undefined => {
  const index = indexOf(pod)
  return index !== undefined && index < Spec.indexCount(job) ? index : undefined
}

const countOf = ({ metadata }: Pod, key: string): number => {
  const text = metadata.annotations?.[key]
  return text === undefined || !/^\d{1,10}$/.test(text) ? 0 : Math.min(Number(text), 2 ** 31 - 1)
}

/** Earlier failures of the pod's index that counted. */
export const failuresBefore = (pod: Pod): number => countOf(pod, failuresKey)

export const ignoredFailuresBefore = (pod: Pod): number => countOf(pod, ignoredFailuresKey)

/** Earlier failures of the pod's index, counted or ignored. */
export const allFailuresBefore = (pod: Pod): number => failuresBefore(pod) + ignoredFailuresBefore(pod)

export const hasSucceeded = ({ status }: Pod): boolean => status?.phase === "Succeeded"

/** A pod that is being deleted counts as failed, unless the Job replaces only pods that have ended. */
export const hasFailed = (pod: Pod, job: Job): boolean =>
  pod.status?.phase === "Failed" ||
  (!Spec.replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && !hasSucceeded(pod))

/**
 * When the pod finished: the end of its last container or sidecar, else the time it became unready, else the time its deletion was requested, else
 * its creation. Source: pkg/controller/job: getFinishedTime.
 */
export const endedAt = (pod: Pod): number => {
  const { creationTimestamp, deletionGracePeriodSeconds = 0, deletionTimestamp } = pod.metadata
  const deadline = Time.parse(deletionTimestamp)
  return (
    lastExit(pod) ??
    unreadySince(pod) ??
    // The deletion timestamp includes the grace period.
    (deadline === undefined ? undefined : deadline - deletionGracePeriodSeconds * 1000) ??
    Time.parse(creationTimestamp) ??
    0
  )
}

/** Undefined while a sidecar runs. Sidecars end last, so their end is used even if a container reports none. */
const lastExit = ({ spec, status }: Pod): number | undefined => {
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  const inits = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))
  const own = latestExit(status?.containerStatuses ?? [])
  if (inits.length === 0) return own
  const last = latestExit(inits)
  return last === undefined ? undefined : Math.max(last, own ?? last)
}

type ContainerStatuses = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>

/** Undefined if there is no container, or one has not ended. */
const latestExit = (statuses: ContainerStatuses): number | undefined => {
  let last: number | undefined
  for (const { state } of statuses) {
    const at = Time.parse(state?.terminated?.finishedAt)
    if (at === undefined) return undefined
    if (last === undefined || at > last) last = at
  }
  return last
}

const isSidecar = ({ restartPolicy }: { readonly restartPolicy?: string }): boolean => restartPolicy === "Always"

const unreadySince = ({ status }: Pod): number | undefined => {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")
  return ready?.status === "False" ? Time.parse(ready.lastTransitionTime) : undefined
}
