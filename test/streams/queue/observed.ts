/** What tests observe of a queue. */
import type * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"

/** Takes every key that is ready, in order; each is done at once. */
export const takeAll = (queue: KeyedQueue.KeyedQueue): Array<string> => {
  const keys: Array<string> = []
  for (let key = queue.takeUnsafe(); key !== undefined; key = queue.takeUnsafe()) {
    keys.push(key)
    queue.doneUnsafe(key)
  }
  return keys
}

/** The sizes of a queue that holds nothing. */
export const empty = { ready: 0, waiting: 0, processing: 0, failing: 0 }

export const sizes = (queue: KeyedQueue.KeyedQueue): typeof empty => {
  const { failing, processing, ready, waiting } = queue.stats()
  return { ready, waiting, processing, failing }
}
