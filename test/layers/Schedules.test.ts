import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as Schedules from "../../src/layers/Schedules.ts"

/** The seconds at which runs of this length begin. */
const starts = (schedule: Schedule.Schedule<unknown, Schedules.Run>, seconds: number, until: number) =>
  Effect.gen(function* () {
    const seen: Array<number> = []
    const run = Effect.gen(function* () {
      const startedAt = yield* Clock.monotonicTimeNanos
      seen.push((yield* Clock.currentTimeMillis) / 1000)
      yield* Effect.sleep(`${seconds} seconds`)
      return { startedAt }
    })
    yield* Effect.forkScoped(Effect.repeat(run, schedule), { startImmediately: true })
    yield* TestClock.adjust(`${until} seconds`)
    return seen
  })

describe("Schedules", () => {
  it.effect("spaced counts from the end of a run: 0, 12, 24", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* starts(Schedule.spaced("10 seconds"), 2, 30), [0, 12, 24])
    })
  )

  it.effect("nonSliding counts from the start of a run: 0, 10, 20", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* starts(Schedules.nonSliding("10 seconds"), 2, 29), [0, 10, 20])
    })
  )

  it.effect("after a run longer than the period nonSliding runs at once, and spaced waits", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* starts(Schedules.nonSliding("10 seconds"), 25, 60), [0, 25, 50])
      assert.deepStrictEqual(
        (yield* starts(Schedule.spaced("10 seconds"), 25, 60)).map((second) => second - 60),
        [0, 35]
      )
    })
  )
})
