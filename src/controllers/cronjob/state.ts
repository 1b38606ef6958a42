/**
 * What the CronJob loop remembers between two syncs. Plain synchronous state, for one term of leadership; a new term comes to the same end without
 * it. Source: spec G.7.
 */
import type { Key } from "../../kube/Key.ts"
import type { Job } from "../../kube/resources.ts"

export interface Books {
  /** This term has checked the CronJob with that uid against the server, or has seen it made. */
  readonly isOurs: (uid: string) => boolean
  readonly takeOver: (uid: string) => void
  /** Nobody knows whether the last write for it was done. */
  readonly disown: (uid: string) => void
  /** The moment, counted in questions and doubts. */
  readonly now: () => number
  /** Since when the CronJob with that uid is in doubt: what the server said before that does not count. */
  readonly inDoubtSince: (uid: string) => number
  /** What the server last said of the runs of a namespace that had not ended, and when it was asked. */
  readonly answers: Map<string, Answer>
  /** The Job with that uid was told of as one that nobody expected. */
  readonly wasTold: (uid: string) => boolean
  readonly tell: (uid: string) => void
  /** That Job is gone. */
  readonly forgetJob: (uid: string) => void
  /** Whether this is the first word of that time, which the CronJob with that uid has missed; of each the last is kept. */
  readonly isNewMiss: (uid: string, time: number) => boolean
  /** An update has brought a schedule that cannot be read; asked and forgotten. */
  readonly takeUnreadable: (key: Key) => boolean
  readonly noteUnreadable: (key: Key) => void
  /** The CronJob is gone: a namesake starts clean. */
  readonly forget: (key: Key, uid: string) => void
}

export interface Answer {
  readonly asked: number
  /** By the uid of their CronJob. */
  readonly runs: ReadonlyMap<string, ReadonlyArray<Job>>
}

export const make = (): Books => {
  let time = 1
  const ours = new Set<string>()
  const doubts = new Map<string, number>()
  const told = new Set<string>()
  const misses = new Map<string, number>()
  const unreadable = new Set<Key>()
  return {
    isOurs: (uid) => ours.has(uid),
    takeOver: (uid) => {
      ours.add(uid)
      doubts.delete(uid)
    },
    disown: (uid) => {
      ours.delete(uid)
      doubts.set(uid, time++)
    },
    now: () => time,
    inDoubtSince: (uid) => doubts.get(uid) ?? 0,
    answers: new Map(),
    wasTold: (uid) => told.has(uid),
    tell: (uid) => void told.add(uid),
    forgetJob: (uid) => void told.delete(uid),
    isNewMiss: (uid, time) => {
      if (misses.get(uid) === time) return false
      misses.set(uid, time)
      return true
    },
    takeUnreadable: (key) => unreadable.delete(key),
    noteUnreadable: (key) => void unreadable.add(key),
    forget: (key, uid) => {
      ours.delete(uid)
      doubts.delete(uid)
      misses.delete(uid)
      unreadable.delete(key)
    }
  }
}
