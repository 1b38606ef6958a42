/**
 * Lag of the event loop: a fiber sleeps for a fixed interval and measures how late it wakes. The worst lag of the last half minute is kept, because
 * a probe is only served after the loop is free again. While the loop is blocked it does not respond at all, and the probe times out.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Monotonic from "../../streams/monotonic.ts"

/** Milliseconds. */
const pace = 500
const window = 30_000

/** A lag of more milliseconds counts as blocked: much more than a busy loop has, and less than the duration of a lease. */
export const limit = 10_000

export interface Lag {
  /** The worst lag of the last 30 to 60 seconds, in milliseconds. */
  readonly worstUnsafe: () => number
  /** The lag of the last wake-up, or of one that is overdue, in milliseconds. */
  readonly lastUnsafe: () => number
}

/** The worst value of the current and the previous half minute. It covers 30 to 60 seconds with two numbers. */
export class Worst {
  /** Number of the current half minute. */
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
  // The time of the last wake-up, and not of the sleep after it: other fibers may run between the two, and block.
  let woken = now()
  let last = 0
  const overdue = (): number => Math.max(0, now() - woken - pace)
  const measure = Effect.sync(() => {
    last = overdue()
    woken = now()
    worst.record(woken, last)
  })
  yield* measure.pipe(Effect.delay(pace), Effect.forever, Effect.forkScoped)
  return {
    worstUnsafe: () => Math.max(worst.at(now()), overdue()),
    lastUnsafe: () => Math.max(last, overdue())
  }
})

/** The message of the liveness check; undefined if it passes. */
export const failure = (lag: Lag): string | undefined => {
  const worst = lag.worstUnsafe()
  return worst <= limit
    ? undefined
    : `the event loop was blocked for ${(worst / 1000).toFixed(1)} s, more than ${limit / 1000} s: something computes without a pause`
}
