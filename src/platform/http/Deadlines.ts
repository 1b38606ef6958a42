/**
 * Deadlines of many requests at little cost: nearly all have the same limit, so they are due in the order in which they came, and one fiber for each limit sleeps until
 * the first. Without requests nothing runs.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { Chain } from "../../streams/chain.ts"
import * as Monotonic from "../../streams/monotonic.ts"

export interface Deadlines {
  /** Calls `end` after so many milliseconds, unless the returned function was called before. */
  readonly addUnsafe: (millis: number, end: () => void) => () => void
}

interface Due {
  readonly at: number
  readonly end: () => void
}

interface Line {
  /** The first is due first. */
  readonly waiting: Chain<Due>
  isWatched: boolean
}

export const make: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function* () {
  const now = Monotonic.millis(yield* Clock.Clock)
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const lines = new Map<number, Line>()
  const watch = (line: Line) =>
    Effect.gen(function* () {
      // Only the time is kept while the fiber sleeps: `end` refers to the request and its response.
      for (let at = firstOf(line); at !== undefined; at = firstOf(line)) {
        if (at > now()) yield* Effect.sleep(at - now())
        else line.waiting.shift()?.end()
      }
      line.isWatched = false
    })
  return {
    addUnsafe: (millis, end) => {
      const line = lines.get(millis) ?? { waiting: new Chain(), isWatched: false }
      lines.set(millis, line)
      const link = line.waiting.add({ at: now() + millis, end })
      if (!line.isWatched) {
        line.isWatched = true
        fork(watch(line))
      }
      return () => void line.waiting.delete(link)
    }
  }
})

const firstOf = ({ waiting }: Line): number | undefined => waiting.first?.value.at
