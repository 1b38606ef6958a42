/** Reads a watch at intervals: events that arrive together are read together, and then cost a fraction. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Request, WatchEvent } from "../../layers/Transport.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import type { Exchange } from "./Exchange.ts"

/** A delivery of so many events shows that more are waiting, so the next follows at once. */
const many = 32

/**
 * At most one delivery in each interval while they follow each other closely: in between nothing is read, because each event that is read alone wakes the process,
 * and costs several times its parsing. Single events, the first two after a pause, and the list with which a watch may begin are not delayed.
 */
export const spaced = <E>(
  events: Stream.Stream<WatchEvent, E>,
  exchange: Exchange,
  { query }: Request,
  interval: number
): Stream.Stream<WatchEvent, E> =>
  Stream.transformPull(events, (upstream) =>
    Effect.map(Clock.Clock, (clock) => {
      const now = Monotonic.millis(clock)
      let isListing = query?.["sendInitialEvents"] === true
      let isHeld = false
      let last = -Infinity
      const read = Effect.map(upstream, (found) => {
        const at = now()
        // Twice: a delivery after a full interval is the next of a series.
        isHeld = !isListing && found.length < many && at - last < 2 * interval
        last = at
        isListing = isListing && !found.some(({ type }) => type === "BOOKMARK")
        return found
      })
      const wait = Effect.andThen(
        Effect.sleep(interval),
        Effect.sync(() => exchange.releaseUnsafe())
      )
      return Effect.suspend(() => {
        if (!isHeld) return read
        exchange.holdUnsafe()
        return Effect.andThen(wait, read)
      })
    })
  )
