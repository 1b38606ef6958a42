/**
 * The delay before a failed daemon pod is replaced: without it a pod that the kubelet rejects would be recreated in a
 * hot loop. Plain synchronous state of one leadership term; times are monotonic milliseconds. Source: client-go
 * util/flowcontrol: Backoff; pkg/controller/daemon: failedPodsBackoff.
 */
import type { DaemonSet } from "../../kube/resources.ts"

const initial = 1000
const longest = 15 * 60 * 1000

/** An entry without a failure for this long is dropped. */
const memory = 2 * longest

export interface Backoff {
  /** Milliseconds until a failed pod on the node may be replaced; zero when it may be replaced now. */
  readonly wait: (set: DaemonSet, node: string, now: number) => number
  /** Records that a failed pod on the node is being replaced. */
  readonly next: (set: DaemonSet, node: string, now: number) => void
}

interface Entry {
  readonly delay: number
  readonly since: number
}

/** A new generation may fix the failure, so it starts without a delay. */
const keyOf = ({ metadata, status }: DaemonSet, node: string): string =>
  `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`

export const make = (): Backoff => {
  /** In insertion order: the least recently updated first. */
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
