/**
 * One timer for the deadlines of many runs that all have the same limit. The oldest run is always the first to expire, so a
 * set in order of start is enough and nothing is done when a run ends in time. A timer of its own per run costs more than a
 * short reconcile.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

export interface Watched {
  /** When it started, in milliseconds on the monotonic clock. */
  readonly since: number
  /** Set by the watchdog just before `expire` is called. */
  expired: boolean
}

export interface Watchdog<W> {
  readonly watch: (run: W) => void
  readonly forget: (run: W) => void
  readonly stop: () => void
}

/** Calls `expire` once for each run that is still watched `limit` milliseconds after its start. */
export const make = <W extends Watched>(
  limit: number,
  now: () => number,
  context: Context.Context<never>,
  expire: (run: W) => void
): Watchdog<W> => {
  /** In order of start; those that expired have left. */
  const watched = new Set<W>()
  /** Sleeps until the run that was the oldest when it fell asleep expires. */
  let timer: Fiber.Fiber<void> | undefined
  /** True from the first run watched until the set is found empty; the timer is alive exactly then. */
  let awake = false
  const clock = Context.get(context, Clock.Clock)
  const fork = Effect.runForkWith(context)

  const loop: Effect.Effect<void> = Effect.suspend(() => {
    for (const run of watched) {
      const left = run.since + limit - now()
      if (left > 0) return Effect.flatMap(clock.sleep(Duration.millis(Math.ceil(left))), () => loop)
      watched.delete(run)
      run.expired = true
      expire(run)
    }
    awake = false
    return Effect.void
  })

  return {
    watch: (run) => {
      if (limit === Infinity) return
      watched.add(run)
      if (awake) return
      awake = true
      timer = fork(loop)
    },
    forget: (run) => void watched.delete(run),
    stop: () => {
      timer?.interruptUnsafe()
      awake = false
      watched.clear()
    }
  }
}
