/**
 * What the CronJob loop remembers between two syncs. Plain synchronous state, for one term of leadership; a new term comes to the same end without
 * it. Source: spec G.7.
 */
import type { Key } from "../../kube/Key.ts"

export interface Books {
  /** This term has checked the CronJob with that uid against the server, or has seen it made. */
  readonly isOurs: (uid: string) => boolean
  readonly takeOver: (uid: string) => void
  /** Nobody knows whether the last write for it was done. */
  readonly disown: (uid: string) => void
  /** The Job with that uid was told of as one that nobody expected. */
  readonly wasTold: (uid: string) => boolean
  readonly tell: (uid: string) => void
  /** That Job is gone. */
  readonly forgetJob: (uid: string) => void
  /** An update has brought a schedule that cannot be read; asked and forgotten. */
  readonly takeUnreadable: (key: Key) => boolean
  readonly noteUnreadable: (key: Key) => void
  /** The CronJob is gone: a namesake starts clean. */
  readonly forget: (key: Key, uid: string) => void
}

export const make = (): Books => {
  const ours = new Set<string>()
  const told = new Set<string>()
  const unreadable = new Set<Key>()
  return {
    isOurs: (uid) => ours.has(uid),
    takeOver: (uid) => void ours.add(uid),
    disown: (uid) => void ours.delete(uid),
    wasTold: (uid) => told.has(uid),
    tell: (uid) => void told.add(uid),
    forgetJob: (uid) => void told.delete(uid),
    takeUnreadable: (key) => unreadable.delete(key),
    noteUnreadable: (key) => void unreadable.add(key),
    forget: (key, uid) => {
      ours.delete(uid)
      unreadable.delete(key)
    }
  }
}
