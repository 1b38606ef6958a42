/**
 * The state that the Job loop keeps between syncs: expectations, pods whose finalizer was removed, pod failures for the backoff, and Jobs that it
 * has ended. Plain synchronous state for one leadership term; a new term reaches the same result without it. Source: pkg/controller/job: Controller
 * (expectations, finalizerExpectations, podBackoffStore).
 */
import type { Key } from "../../kube/Key.ts"
import * as Expectations from "../shared/workload/expectations.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as Backoff from "./plan/backoff.ts"

export interface State extends Handoff.Trust {
  /** Pods that were asked for, or asked to go. */
  readonly expectations: Expectations.Expectations
  /** Uids of the pods whose finalizer was removed and that the cache still shows with it. */
  readonly released: (job: Key) => ReadonlySet<string>
  readonly release: (job: Key, uid: string) => void
  /** The cache shows the pod without the finalizer, or its removal failed. */
  readonly releaseObserved: (job: Key, uid: string) => void
  /** Failures of the Job's pods since the last success. */
  readonly record: (job: Key) => Backoff.Record
  readonly writeRecord: (job: Key, record: Backoff.Record) => void
  /** The terminal condition was written; what the cache shows of the Job is outdated from now on. */
  readonly end: (uid: string) => void
  readonly hasEnded: (uid: string) => boolean
  /** The cache knows that the Job has ended. */
  readonly endObserved: (job: Key, uid: string) => void
  /** The Job is gone: a new Job of its name starts with empty state. */
  readonly forget: (job: Key, uid: string) => void
  /** Whether the Job with that uid is known to be gone; the last thousand are remembered. */
  readonly isGone: (uid: string) => boolean
  readonly markGone: (uid: string) => void
}

/** How many deleted Jobs are remembered; for others the server is asked. */
const maxGone = 1000

const noUids: ReadonlySet<string> = new Set()

export const make = (): State => {
  const expectations = Expectations.make()
  /** Never an empty set. */
  const released = new Map<Key, Set<string>>()
  /** Never a record without failures. */
  const records = new Map<Key, Backoff.Record>()
  const ended = new Set<string>()
  /** Of Jobs that have not ended. */
  const trust = Handoff.trust()
  /** Oldest first. */
  const gone = new Set<string>()

  const markGone = (uid: string): void => {
    gone.add(uid)
    if (gone.size > maxGone) for (const oldest of gone) return void gone.delete(oldest)
  }

  return {
    expectations,
    released: (job) => released.get(job) ?? noUids,
    release: (job, uid) => {
      const uids = released.get(job)
      if (uids === undefined) released.set(job, new Set([uid]))
      else uids.add(uid)
    },
    releaseObserved: (job, uid) => {
      const uids = released.get(job)
      if (uids?.delete(uid) === true && uids.size === 0) released.delete(job)
    },
    record: (job) => records.get(job) ?? Backoff.none,
    writeRecord: (job, record) => void (record.failures === 0 ? records.delete(job) : records.set(job, record)),
    end: (uid) => void ended.add(uid),
    hasEnded: (uid) => ended.has(uid),
    endObserved: (job, uid) => {
      records.delete(job)
      ended.delete(uid)
      trust.disown(uid)
    },
    forget: (job, uid) => {
      expectations.forget(job)
      released.delete(job)
      records.delete(job)
      ended.delete(uid)
      trust.disown(uid)
      markGone(uid)
    },
    ...trust,
    isGone: (uid) => gone.has(uid),
    markGone
  }
}
