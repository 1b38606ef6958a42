/**
 * The state that the Job loop keeps between syncs: expectations, pods whose finalizer was removed, pod failures for the backoff, and Jobs that it
 * has ended. Plain synchronous state for one leadership term; a new term reaches the same result without it. Source: pkg/controller/job: Controller
 * (expectations, finalizerExpectations, podBackoffStore).
 */
import * as Semaphore from "effect/Semaphore"
import type { Key } from "../../kube/Key.ts"
import * as Expectations from "../shared/workload/expectations.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as Backoff from "./plan/backoff.ts"

export interface State extends Handoff.Trust {
  /** Creations and deletions of pods that the cache does not show yet. */
  readonly expectations: Expectations.Expectations
  /** Uids of the pods whose finalizer was removed and that the cache still shows with it. */
  readonly released: (job: Key) => ReadonlySet<string>
  readonly release: (job: Key, uid: string) => void
  /** The cache shows the pod without the finalizer, or its removal failed. */
  readonly releaseObserved: (job: Key, uid: string) => void
  /** Failures of the Job's pods since the last success. */
  readonly record: (job: Key) => Backoff.Record
  readonly writeRecord: (job: Key, record: Backoff.Record) => void
  /** The terminal condition was written, and the cache may not show it yet. */
  readonly markEnded: (uid: string) => void
  readonly hasEnded: (uid: string) => boolean
  /** The cache shows the terminal condition. */
  readonly endObserved: (job: Key, uid: string) => void
  /** The Job was deleted: a new Job of its name starts with empty state. */
  readonly forget: (job: Key, uid: string) => void
  /** Whether the Job with that uid is known to be deleted. */
  readonly isDeleted: (uid: string) => boolean
  readonly markDeleted: (uid: string) => void
  /** Calls in flight, of all syncs together: over HTTP/1.1 each call needs a connection. */
  readonly permits: Semaphore.Semaphore
}

const atOnce = 64

/** How many uids of deleted Jobs are kept; the existence of others is read from the server. */
const maxDeleted = 1000

const noUids: ReadonlySet<string> = new Set()

export const make = (): State => {
  const expectations = Expectations.make()
  /** Never an empty set. */
  const released = new Map<Key, Set<string>>()
  /** Never a record without failures. */
  const records = new Map<Key, Backoff.Record>()
  const ended = new Set<string>()
  /** Only of Jobs that have not ended. */
  const trust = Handoff.make()
  /** Oldest first. */
  const deleted = new Set<string>()

  const markDeleted = (uid: string): void => {
    deleted.add(uid)
    if (deleted.size > maxDeleted) for (const oldest of deleted) return void deleted.delete(oldest)
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
    markEnded: (uid) => void ended.add(uid),
    hasEnded: (uid) => ended.has(uid),
    endObserved: (job, uid) => {
      records.delete(job)
      ended.delete(uid)
      trust.distrust(uid)
    },
    forget: (job, uid) => {
      expectations.forget(job)
      released.delete(job)
      records.delete(job)
      ended.delete(uid)
      trust.distrust(uid)
      markDeleted(uid)
    },
    ...trust,
    isDeleted: (uid) => deleted.has(uid),
    markDeleted,
    permits: Semaphore.makeUnsafe(atOnce)
  }
}
