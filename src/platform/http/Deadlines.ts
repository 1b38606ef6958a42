/**
 * Deadlines of many requests at little cost: nearly all have the same limit, so they are due in the order in which they came, and one fiber for each limit sleeps until
 * the first. Without requests nothing runs.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
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
  readonly waiting: Set<Due>
  isWatched: boolean
}

export const make: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function* () {
  const now = Monotonic.millis(yield* Clock.Clock)
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const lines = new Map<number, Line>()
  const watch = (line: Line) =>
    Effect.gen(function* () {
      for (let at = firstOf(line); at !== undefined; at = firstOf(line)) {
        yield* Effect.sleep(Math.max(0, at - now()))
        for (const due of line.waiting) {
          if (due.at > now()) break
          line.waiting.delete(due)
          due.end()
        }
      }
      line.isWatched = false
    })
  return {
    addUnsafe: (millis, end) => {
      const line = lines.get(millis) ?? { waiting: new Set(), isWatched: false }
      lines.set(millis, line)
      const due = { at: now() + millis, end }
      line.waiting.add(due)
      if (!line.isWatched) {
        line.isWatched = true
        fork(watch(line))
      }
      return () => void line.waiting.delete(due)
    }
  }
})

/**
 * When the first is due. No iterator is kept while the fiber sleeps: with one, V8 keeps all that was in the set whenever it grew or shrank, here the bodies of
 * thousands of requests.
 */
const firstOf = ({ waiting }: Line): number | undefined => {
  for (const { at } of waiting) return at
  return undefined
}
