/**
 * Limits the reviews that unknown clients cause, such as those of their tokens. The program sends them under its own identity, so clients must not
 * determine their number: new questions are limited in rate and concurrency, and rejected beyond the limits. A question that was allowed before is
 * reviewed again without limits, so that a flood of new ones does not lock out known users.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Monotonic from "../../streams/monotonic.ts"
import * as TokenBucket from "../../streams/queue/tokenBucket.ts"

/** Too many new reviews: this one was not sent. */
export class TooMany extends Data.TaggedError("TooMany")<{}> {}

export interface Limits extends TokenBucket.Options {
  /** Concurrent new reviews. */
  readonly concurrency: number
}

/** The most allowed reviews that are remembered; beyond it the least recently used one counts as new again. */
const remembered = 1024

/** Asks a question, known by its text, within the limits. */
export type Ask = <A, E>(
  text: string,
  question: Effect.Effect<A, E>,
  isYes: (answer: A) => boolean
) => Effect.Effect<A, E | TooMany>

export const limited = (limits: Limits): Effect.Effect<Ask> =>
  Effect.map(Clock.Clock, (clock): Ask => {
    const allowed = TokenBucket.refusing(limits, Monotonic.millis(clock))
    const turns = Semaphore.makeUnsafe(limits.concurrency)
    const known = new Set<string>()
    const note = (text: string, isYes: boolean): void => {
      known.delete(text)
      if (isYes) known.add(text)
      const [oldest] = known
      if (known.size > remembered && oldest !== undefined) known.delete(oldest)
    }
    return (text, question, isYes) =>
      Effect.suspend(() => {
        const noted = Effect.tap(question, (answer) => Effect.sync(() => note(text, isYes(answer))))
        if (known.has(text)) return noted
        if (!allowed()) return Effect.fail(new TooMany())
        return Effect.flatMap(
          turns.withPermitsIfAvailable(1)(noted),
          Option.match({ onNone: () => Effect.fail(new TooMany()), onSome: Effect.succeed })
        )
      })
  })
