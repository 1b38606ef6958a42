/**
 * One timer for the deadlines of many runs with the same limit. The oldest run is always the first to expire, so a set in the order of the
 * starts is enough, and a run that ends in time costs nothing. A timer for each run would cost more than a short reconcile.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { Chain } from "../chain.ts"

export interface Watched {
  /** When it started, in milliseconds on the monotonic clock. */
  readonly since: number
  /** Set by the watchdog just before `expire` is called. */
  expired: boolean
}

export interface Watchdog<W> {
  /** Returns how to stop watching it. */
  readonly watch: (run: W) => () => void
  readonly stop: () => void
}

const unwatched = () => undefined

/** Calls `expire` once for each run that is still watched `limit` milliseconds after its start. */
export const make = <W extends Watched>(
  limit: number,
  now: () => number,
  context: Context.Context<never>,
  expire: (run: W) => void
): Watchdog<W> => {
  /** The runs in the order of their starts, without those that expired. */
  const watched = new Chain<W>()
  /** Sleeps until the deadline of the run that was the oldest when the sleep began. */
  let timer: Fiber.Fiber<void> | undefined
  /** True while the timer fiber runs: from the first run until it finds the set empty. */
  let awake = false
  const clock = Context.get(context, Clock.Clock)
  const fork = Effect.runForkWith(context)

  const loop: Effect.Effect<void> = Effect.suspend(() => {
    for (let first = watched.first; first !== undefined; first = watched.first) {
      const run = first.value
      const left = run.since + limit - now()
      if (left > 0) return Effect.flatMap(clock.sleep(Duration.millis(Math.ceil(left))), () => loop)
      watched.delete(first)
      run.expired = true
      expire(run)
    }
    awake = false
    return Effect.void
  })

  return {
    watch: (run) => {
      if (limit === Infinity) return unwatched
      const link = watched.add(run)
      if (!awake) {
        awake = true
        timer = fork(loop)
      }
      return () => void watched.delete(link)
    },
    stop: () => {
      timer?.interruptUnsafe()
      awake = false
      watched.clear()
    }
  }
}
