/**
 * How long a failed daemon is left alone before it is replaced: a kubelet that refuses a pod would refuse the next one at once, for ever.
 * Plain synchronous state, for one term of leadership; times are monotonic milliseconds. Source: spec E.1, client-go flowcontrol.Backoff.
 */
import type { DaemonSet } from "../../kube/resources.ts"

const initial = 1000
const longest = 15 * 60 * 1000

/** After so long without a failure the next one is the first again. */
const memory = 2 * longest

export interface Backoff {
  /** Milliseconds for which a failed pod on the node is left alone; zero if it may be replaced. */
  readonly wait: (set: DaemonSet, node: string, now: number) => number
  /** A failed pod on the node is being replaced. */
  readonly next: (set: DaemonSet, node: string, now: number) => void
}

interface Entry {
  readonly delay: number
  readonly since: number
}

/** A new generation may be what mends it, so it starts afresh. */
const keyOf = ({ metadata, status }: DaemonSet, node: string): string =>
  `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`

export const make = (): Backoff => {
  /** Longest untouched first. */
  const entries = new Map<string, Entry>()

  const forgetOld = (now: number): void => {
    for (const [key, { since }] of entries) {
      if (now - since <= memory) return
      entries.delete(key)
    }
  }

  return {
    wait: (set, node, now) => {
      const entry = entries.get(keyOf(set, node))
      return entry === undefined ? 0 : Math.max(0, entry.since + entry.delay - now)
    },
    next: (set, node, now) => {
      forgetOld(now)
      const key = keyOf(set, node)
      const before = entries.get(key)
      entries.delete(key)
      entries.set(key, { delay: before === undefined ? initial : Math.min(before.delay * 2, longest), since: now })
    }
  }
}
