/**
 * The delay before a failed pod is replaced: 10 s after the first failure, doubled after each further one, at most 10 min, reset by a success.
 * Failures of the whole Job are kept in a record for one leadership term; with `backoffLimitPerIndex` they are in annotations of the pods. Times are
 * milliseconds since 1970. Source: pkg/controller/job: backoffStore, getRemainingTimePerIndex.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Pods from "../pods.ts"

/** Source: job controller DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff. */
const baseDelay = 10_000
const maxDelay = 600_000

export interface Record {
  /** Failures since the last success. */
  readonly failures: number
  /** The end of the latest pod among the failures that were recorded last; undefined if there are none. */
  readonly last: number | undefined
}

export const none: Record = { failures: 0, last: undefined }

/** The record after these pods have finished. Source: pkg/controller/job: newBackoffRecord. */
export const after = (before: Record, succeeded: ReadonlyArray<Pod>, failed: ReadonlyArray<Pod>): Record => {
  const success = succeeded.length === 0 ? undefined : Math.max(...succeeded.map(Pods.endedAt))
  const since = failed.map(Pods.endedAt).filter((at) => success === undefined || at > success)
  const start = success === undefined ? before : none
  return since.length === 0 ? start : { failures: start.failures + since.length, last: Math.max(...since) }
}

/** Milliseconds until the next pod may be created; zero if it may be created now. */
export const remaining = ({ failures, last }: Record, now: number): number => {
  if (failures === 0 || last === undefined) return 0
  // 2^6 times the base delay is above the limit.
  const delay = Math.min(maxDelay, baseDelay * 2 ** Math.min(failures - 1, 6))
  return Math.max(0, last + delay - now)
}

/** The same for one index, whose last failed pod is `pod`. */
export const remainingOf = (pod: Pod | undefined, now: number): number =>
  pod === undefined ? 0 : remaining({ failures: Pods.allFailuresBefore(pod) + 1, last: Pods.endedAt(pod) }, now)
