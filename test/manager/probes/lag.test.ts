import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as Lag from "../../../src/manager/probes/lag.ts"

/**
 * The clock of a blocked event loop: sleepers wake on time, and then the clock shows a later time. The block begins at once, or in a fiber that runs
 * after the next one that wakes, in the same turn.
 */
const hanging = Effect.map(Clock.Clock, (real) => {
  const state = { behind: 0n }
  const hang = (millis: number) => void (state.behind += BigInt(millis) * 1_000_000n)
  let next = 0
  const block = Effect.sync(() => {
    hang(next)
    next = 0
  })
  const clock: Clock.Clock = {
    currentTimeMillis: real.currentTimeMillis,
    currentTimeNanos: real.currentTimeNanos,
    monotonicTimeNanos: real.monotonicTimeNanos,
    currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe(),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe() + state.behind,
    sleep: (duration) => Effect.andThen(real.sleep(duration), Effect.asVoid(Effect.forkDetach(block)))
  }
  return { clock, hang, hangNext: (millis: number) => void (next = millis) }
})

const Step = Schema.Struct({
  after: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90_000 })),
  late: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))
})

describe("the lag of the event loop", () => {
  it.prop(
    "is at least the worst of the last half minute, and never older than a minute",
    { steps: Arbitrary.schema(Schema.Array(Step)) },
    ({ steps }) => {
      const worst = new Lag.Worst()
      const seen: Array<{ at: number; late: number }> = []
      let now = 0
      for (const { after, late } of steps) {
        now += after
        worst.record(now, late)
        seen.push({ at: now, late })
        const most = (age: number) => Math.max(0, ...seen.filter(({ at }) => now - at < age).map((one) => one.late))
        const answer = worst.at(now)
        if (answer < most(30_000) || answer > most(60_000)) return false
      }
      return true
    }
  )

  it.effect("is zero while the loop is on time, then as long as it was blocked, and zero again a minute later", () =>
    Effect.gen(function* () {
      const { clock, hang } = yield* hanging
      const lag = yield* Effect.provideService(Lag.make, Clock.Clock, clock)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(lag.worstUnsafe(), 0)
      assert.isUndefined(Lag.failure(lag))
      hang(12_000)
      // The first read after the block returns the lag, although the fiber has not run yet.
      assert.isAtLeast(lag.worstUnsafe(), 11_500)
      yield* TestClock.adjust("5 seconds")
      assert.isAtLeast(lag.worstUnsafe(), 11_500)
      assert.isBelow(lag.lastUnsafe(), 1)
      assert.match(Lag.failure(lag) ?? "", /^the event loop was blocked for 1[12]\.\d s, more than 10 s/)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(Lag.failure(lag))
    }).pipe(Effect.scoped)
  )

  it.effect("is as long as the loop was blocked, also when the block begins just after the lag was measured", () =>
    Effect.gen(function* () {
      const { clock, hangNext } = yield* hanging
      const lag = yield* Effect.provideService(Lag.make, Clock.Clock, clock)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(lag.worstUnsafe(), 0)
      hangNext(12_000)
      yield* TestClock.adjust("500 millis")
      assert.isAtLeast(lag.worstUnsafe(), 11_500)
      yield* TestClock.adjust("5 seconds")
      assert.isAtLeast(lag.worstUnsafe(), 11_500)
    }).pipe(Effect.scoped)
  )
})
