/**
 * The least time between two runs of a key. The first change is answered at once; those that come sooner than that after a run began wait in
 * the queue until it is over, and are one run. Only what feeds ask for is spaced: retries and a controller's own requests have their times.
 * It knows the keys that ran within the spacing and no others.
 */
import type { Key } from "../../kube/Key.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"

/** What feeds put keys in by. */
export type Inlet = Pick<KeyedQueue, "addAllUnsafe" | "noteUnsafe">

/** A queue as its feeds see it, and whom to tell that a key's run begins. */
export interface Spacing {
  readonly inlet: Inlet
  readonly began: (key: Key) => void
}

/** `millis`: the spacing, none if zero; `now`: the monotonic clock in milliseconds. */
export const make = (queue: KeyedQueue, millis: number, now: () => number): Spacing => {
  if (millis <= 0) return { inlet: queue, began: () => {} }
  /** When the last run of a key began, the longest ago first. */
  const starts = new Map<Key, number>()
  return {
    inlet: {
      noteUnsafe: queue.noteUnsafe,
      addAllUnsafe: (keys, priority) => {
        const at = now()
        for (const key of keys) {
          const start = starts.get(key)
          const after = start === undefined ? 0 : start + millis - at
          if (after > 0) queue.addWithUnsafe(key, { priority, after })
          else queue.addUnsafe(key, priority)
        }
      }
    },
    began: (key) => {
      const at = now()
      starts.delete(key)
      starts.set(key, at)
      for (const [other, start] of starts) {
        if (start + millis > at) break
        starts.delete(other)
      }
    }
  }
}
