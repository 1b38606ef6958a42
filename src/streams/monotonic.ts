/**
 * The monotonic clock as a plain function, for synchronous sections that cannot afford an effect per reading. It is the clock
 * of the fiber that asks for it once, so it follows `TestClock`. Not for timestamps.
 */
import type * as Clock from "effect/Clock"

/** Milliseconds, with fractions, since some moment in the past. */
export const millis = (clock: Clock.Clock) => (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
