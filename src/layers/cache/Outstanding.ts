/**
 * Counts the deltas that subscribers have not processed yet: buffered ones, and those of a chunk whose
 * subscriber has not come back for the next. Tests settle on it instead of sleeping. It is not a queue and holds no items.
 */
import type * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

export interface Outstanding {
  readonly count: () => number
  /** Negative to take away. */
  readonly addUnsafe: (by: number) => void
  /** Waits until nothing is outstanding. */
  readonly settled: Effect.Effect<void>
}

export const make = (): Outstanding => {
  const none = Latch.makeUnsafe(true)
  let count = 0
  return {
    count: () => count,
    addUnsafe: (by) => {
      count += by
      if (count === 0) none.openUnsafe()
      else none.closeUnsafe()
    },
    settled: none.await
  }
}
