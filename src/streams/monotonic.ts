/**
 * The monotonic clock as a plain function, for synchronous sections in which an effect for each reading would be too slow. It reads the
 * clock of the fiber that created it, so it follows `TestClock`. Not for timestamps.
 */
import type * as Clock from "effect/Clock"

/** Milliseconds, with fractions, since some moment in the past. */
export const millis = (clock: Clock.Clock) => (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
