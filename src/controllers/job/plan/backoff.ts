/**
 * The delay before a failed pod is replaced: 10 s after the first failure, doubled after each further one, up to 10 min, reset by a success.
 * Failures of the whole Job are kept in a record for one leadership term; with `backoffLimitPerIndex` they are in annotations of the pods. Times are
 * milliseconds since 1970. Source: pkg/controller/job: backoffStore, getRemainingTimePerIndex.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Pods from "../pods.ts"

/** Source: job controller DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff. */
const base = 10_000
const most = 600_000

export interface Record {
  /** Since the last success. */
  readonly failures: number
  /** When the last of those was that were counted last; undefined if there is none. */
  readonly last: number | undefined
}

export const none: Record = { failures: 0, last: undefined }

/** The record after these newly finished pods. Source: pkg/controller/job: newBackoffRecord. */
export const after = (before: Record, succeeded: ReadonlyArray<Pod>, failed: ReadonlyArray<Pod>): Record => {
  const success = succeeded.length === 0 ? undefined : Math.max(...succeeded.map(Pods.endedAt))
  const since = failed.map(Pods.endedAt).filter((at) => success === undefined || at > success)
  const start = success === undefined ? before : none
  return since.length === 0 ? start : { failures: start.failures + since.length, last: Math.max(...since) }
}

/** Milliseconds until the next pod may be made; zero if it may be made now. */
export const remaining = ({ failures, last }: Record, now: number): number => {
  if (failures === 0 || last === undefined) return 0
  // 2^6 tens of seconds are above the limit.
  const delay = Math.min(most, base * 2 ** Math.min(failures - 1, 6))
  return Math.max(0, last + delay - now)
}

/** The same for the index whose last pod this is. */
export const remainingOf = (pod: Pod | undefined, now: number): number =>
  pod === undefined ? 0 : remaining({ failures: Pods.allFailuresBefore(pod) + 1, last: Pods.endedAt(pod) }, now)
