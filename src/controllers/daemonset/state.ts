/**
 * What the DaemonSet loop keeps between syncs: expectations, the DaemonSets whose cached pods are fresh, and the delays of
 * failed pods. Plain synchronous state of one leadership term; a new term reaches the same result without it.
 */
import * as Semaphore from "effect/Semaphore"
import type { DaemonSet } from "../../kube/resources.ts"
import * as Expectations from "../shared/workload/expectations.ts"
import * as Handoff from "../shared/workload/handoff.ts"

export interface State extends Handoff.Trust {
  /** Creations and deletions of pods that the cache does not show yet. */
  readonly expectations: Expectations.Expectations
  readonly backoff: Backoff
  /** Pod creations and deletions in flight, over all syncs; over HTTP/1.1 each call needs a connection. */
  readonly permits: Semaphore.Semaphore
}

const atOnce = 64

export const make = (): State => ({
  ...Handoff.make(),
  expectations: Expectations.make(),
  backoff: makeBackoff(),
  permits: Semaphore.makeUnsafe(atOnce)
})

const initial = 1000
const longest = 15 * 60 * 1000

/** An entry without a failure for this long is dropped. */
const memory = 2 * longest

/**
 * The delay before a failed daemon pod is replaced: without it a pod that the kubelet rejects would be recreated in a hot
 * loop. Times are monotonic milliseconds.
 */
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

/** Source: client-go util/flowcontrol: Backoff; pkg/controller/daemon: failedPodsBackoff. */
export const makeBackoff = (): Backoff => {
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
