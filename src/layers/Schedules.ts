/**
 * When a scheduled controller runs again. It may be any `Schedule`; the input is the run that has just ended, so that a schedule can
 * count from the start of a run, while those of Effect count from its end.
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
 * The period from start to start: with 10 s, runs of 2 s begin at 0, 10 and 20; after one that takes longer than the period the next
 * begins at once. `Schedule.fixed` differs, because it counts from the end of the first run. Source: apimachinery wait.NonSlidingUntil.
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
