/**
 * State of the CronJob controller between syncs. Plain and synchronous, for one leadership term; a new term reaches the
 * same result without it.
 */
import type { Key } from "../../kube/Key.ts"
import type { Job } from "../../kube/resources.ts"
import * as Handoff from "../shared/workload/handoff.ts"

export interface State extends Handoff.Trust {
  /** A logical time that increases with each `distrust`. */
  readonly now: () => number
  /** When the CronJob became untrusted: lists from before that do not count. */
  readonly distrustedSince: (uid: string) => number
  /** The last list of unfinished Jobs of a namespace, and when it was requested. */
  readonly liveJobs: Map<string, LiveJobs>
  /** The Job with that uid was reported as unexpected. */
  readonly wasReported: (uid: string) => boolean
  readonly markReported: (uid: string) => void
  /** The Job was deleted. */
  readonly forgetJob: (uid: string) => void
  /** Whether the missed time of the CronJob was not reported yet; the last one of each CronJob is kept. */
  readonly isNewMiss: (uid: string, time: number) => boolean
  /** Whether an update brought a schedule that cannot be parsed; resets the mark. */
  readonly takeUnparseable: (key: Key) => boolean
  readonly markUnparseable: (key: Key) => void
  /** The CronJob was deleted: a later one of the same name starts with no state. */
  readonly forget: (key: Key, uid: string) => void
}

export interface LiveJobs {
  readonly listedAt: number
  /** By the uid of their CronJob. */
  readonly runs: ReadonlyMap<string, ReadonlyArray<Job>>
}

export const make = (): State => {
  let time = 1
  const trust = Handoff.make()
  const distrusted = new Map<string, number>()
  const reported = new Set<string>()
  const misses = new Map<string, number>()
  const unparseable = new Set<Key>()
  return {
    isTrusted: trust.isTrusted,
    trust: (uid) => {
      trust.trust(uid)
      distrusted.delete(uid)
    },
    distrust: (uid) => {
      trust.distrust(uid)
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
      trust.distrust(uid)
      distrusted.delete(uid)
      misses.delete(uid)
      unparseable.delete(key)
    }
  }
}
