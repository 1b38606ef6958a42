/**
 * When a scheduled controller runs again. Any `Schedule` will do; its input is the run that has just ended, so that a
 * schedule can count from the start of a run where Effect's own count from its end.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** The run that has just ended. */
export interface Run {
  /** Monotonic time at which it began, in nanoseconds. */
  readonly startedAt: bigint
}

/**
 * From start to start: a run of 2 s every 10 s begins at 0, 10, 20; one that takes longer than the period is followed by the
 * next at once. Source: apimachinery wait.NonSlidingUntil. `Schedule.fixed` is not this: it anchors its
 * grid at the end of the first run.
 */
export const nonSliding = (period: Duration.Input): Schedule.Schedule<unknown, Run> => {
  const nanos = BigInt(Math.round(Duration.toMillis(period) * 1e6))
  return Schedule.forever.pipe(
    Schedule.setInputType<Run>(),
    Schedule.modifyDelay(({ input }) =>
      Effect.map(Clock.monotonicTimeNanos, (now) => {
        const left = input.startedAt + nanos - now
        return Duration.nanos(left > 0n ? left : 0n)
      })
    )
  )
}
