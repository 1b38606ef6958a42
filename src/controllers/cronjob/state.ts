/**
 * What the CronJob loop remembers between two syncs. Plain synchronous state, for one term of leadership; a new term comes to the same end without
 * it. Source: spec G.7.
 */
import type { Key } from "../../kube/Key.ts"
import type { Job } from "../../kube/resources.ts"

export interface State {
  /** This term has checked the CronJob with that uid against the server, or has seen it made. */
  readonly isTrusted: (uid: string) => boolean
  readonly trust: (uid: string) => void
  /** Nobody knows whether the last write for it was done. */
  readonly distrust: (uid: string) => void
  /** The moment, counted in questions and doubts. */
  readonly now: () => number
  /** Since when the CronJob with that uid is in doubt: what the server said before that does not count. */
  readonly distrustedSince: (uid: string) => number
  /** What the server last said of the runs of a namespace that had not ended, and when it was asked. */
  readonly liveJobs: Map<string, LiveJobs>
  /** The Job with that uid was told of as one that nobody expected. */
  readonly wasReported: (uid: string) => boolean
  readonly markReported: (uid: string) => void
  /** That Job is gone. */
  readonly forgetJob: (uid: string) => void
  /** Whether this is the first word of that time, which the CronJob with that uid has missed; of each the last is kept. */
  readonly isNewMiss: (uid: string, time: number) => boolean
  /** An update has brought a schedule that cannot be read; asked and forgotten. */
  readonly takeUnparseable: (key: Key) => boolean
  readonly markUnparseable: (key: Key) => void
  /** The CronJob is gone: a namesake starts clean. */
  readonly forget: (key: Key, uid: string) => void
}

export interface LiveJobs {
  readonly listedAt: number
  /** By the uid of their CronJob. */
  readonly runs: ReadonlyMap<string, ReadonlyArray<Job>>
}

export const make = (): State => {
  let time = 1
  const trusted = new Set<string>()
  const distrusted = new Map<string, number>()
  const reported = new Set<string>()
  const misses = new Map<string, number>()
  const unparseable = new Set<Key>()
  return {
    isTrusted: (uid) => trusted.has(uid),
    trust: (uid) => {
      trusted.add(uid)
      distrusted.delete(uid)
    },
    distrust: (uid) => {
      trusted.delete(uid)
      distrusted.set(uid, time++)
    },
    now: () => time,
    distrustedSince: (uid) => distrusted.get(uid) ?? 0,
    liveJobs: new Map(),
    wasReported: (uid) => reported.has(uid),
    markReported: (uid) => void reported.add(uid),
    forgetJob: (uid) => void reported.delete(uid),
    isNewMiss: (uid, time) => {
      if (misses.get(uid) === time) return false
      misses.set(uid, time)
      return true
    },
    takeUnparseable: (key) => unparseable.delete(key),
    markUnparseable: (key) => void unparseable.add(key),
    forget: (key, uid) => {
      trusted.delete(uid)
      distrusted.delete(uid)
      misses.delete(uid)
      unparseable.delete(key)
    }
  }
}
