/**
 * Lag of the event loop: a fiber sleeps for a fixed interval and measures how much later it wakes. The worst lag of the last half
 * minute is kept, because a request is served only after the loop is free again. A loop that is blocked right now does not respond
 * at all, which the prober notices by itself.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Monotonic from "../../streams/monotonic.ts"

/** Milliseconds. */
const pace = 500
const window = 30_000

/** Milliseconds of lateness above which a loop counts as blocked: many times what a busy one shows, less than a lease lasts. */
export const limit = 10_000

export interface Lag {
  /** The worst lateness of the last half minute to a minute, in milliseconds. */
  readonly worstUnsafe: () => number
  /** Of the last wake-up, or of the one that is overdue. */
  readonly lastUnsafe: () => number
}

/** The worst of the present half minute of the clock and the one before: between one and two of them, at the cost of two numbers. */
export class Worst {
  /** Number of the present half minute. */
  private turn = 0
  private present = 0
  private previous = 0

  record(at: number, late: number): void {
    this.advance(at)
    this.present = Math.max(this.present, late)
  }

  at(now: number): number {
    this.advance(now)
    return Math.max(this.present, this.previous)
  }

  private advance(now: number): void {
    const turn = Math.floor(now / window)
    if (turn === this.turn) return
    this.previous = turn === this.turn + 1 ? this.present : 0
    this.present = 0
    this.turn = turn
  }
}

/** Measures for as long as the scope is open. */
export const make: Effect.Effect<Lag, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const now = Monotonic.millis(clock)
  const worst = new Worst()
  let asked = now()
  let last = 0
  const overdue = (): number => Math.max(0, now() - asked - pace)
  const once = Effect.suspend(() => {
    asked = now()
    return Effect.map(clock.sleep(Duration.millis(pace)), () => {
      last = overdue()
      worst.record(now(), last)
    })
  })
  yield* Effect.forkScoped(Effect.forever(once))
  return {
    worstUnsafe: () => Math.max(worst.at(now()), overdue()),
    lastUnsafe: () => Math.max(last, overdue())
  }
})

/** For the liveness probe. */
export const failure = (lag: Lag): string | undefined => {
  const worst = lag.worstUnsafe()
  return worst <= limit
    ? undefined
    : `the event loop was blocked for ${(worst / 1000).toFixed(1)} s, more than ${limit / 1000} s: something computes without a pause`
}
