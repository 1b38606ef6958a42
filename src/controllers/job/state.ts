/**
 * What the Job loop remembers between two syncs: what it asked for and has not seen yet, which pods it let go, when pods failed, and which
 * Jobs it ended. Plain synchronous state, for one term of leadership; a new term comes to the same end without it. Source: spec A.2, D.2, D.8.
 */
import type { Key } from "../../kube/Key.ts"
import * as Expectations from "../shared/workload/expectations.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as Backoff from "./plan/backoff.ts"

export interface State extends Handoff.Trust {
  /** Pods that were asked for, or asked to go. */
  readonly expectations: Expectations.Expectations
  /** Uids of the Job's pods that have lost the finalizer, as far as the cache shows them with it. */
  readonly released: (job: Key) => ReadonlySet<string>
  readonly release: (job: Key, uid: string) => void
  /** The cache shows the pod without the finalizer, or the finalizer is still there after all. */
  readonly releaseObserved: (job: Key, uid: string) => void
  /** Failures of the Job's pods since the last success. */
  readonly record: (job: Key) => Backoff.Record
  readonly writeRecord: (job: Key, record: Backoff.Record) => void
  /** The terminal condition of the Job was written; nothing that the cache says of it counts any more. */
  readonly end: (uid: string) => void
  readonly hasEnded: (uid: string) => boolean
  /** The cache knows that the Job has ended. */
  readonly endObserved: (job: Key, uid: string) => void
  /** The Job is gone: a namesake starts clean. */
  readonly forget: (job: Key, uid: string) => void
  /** The Job with that uid is known to be gone; of the last thousand. No uid comes back. */
  readonly isGone: (uid: string) => boolean
  readonly markGone: (uid: string) => void
}

/** So many Jobs are known to be gone; of others the server is asked. */
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
