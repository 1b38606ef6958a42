import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Tenure from "../../src/leader/tenure.ts"

const settings = { identity: "a", leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }

describe("tenure", () => {
  /**
   * Another thread renews, and shared memory has the proof before a message comes: the one of 9 s and, too late, the one of 18 s.
   * The term is not read between 10 s and 12 s, as in a process that is busy.
   */
  it.effect("believes what another thread has proven, until it is seen without proof", () =>
    Effect.gen(function* () {
      let proven = 0
      const tenure = yield* Tenure.make(settings, 0, () => proven)
      yield* TestClock.adjust("9 seconds")
      proven = 9_000
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(tenure.term.isValidUnsafe())
      assert.strictEqual(tenure.remainingUnsafe(), 7_000)
      yield* TestClock.adjust("7 seconds")
      assert.isFalse(tenure.term.isValidUnsafe())
      proven = 18_000
      assert.isFalse(tenure.term.isValidUnsafe(), "what was seen without proof stays so")
      assert.isAtMost(tenure.remainingUnsafe(), 0)
    })
  )

  /** Successes are sent at 0 and 2 s; failures are noticed at 8 s and 9 s; the term is over at 12 s sharp. */
  it.effect("ends one renew deadline after the last success was sent", () =>
    Effect.gen(function* () {
      const tenure = yield* Tenure.make(settings, 0)
      const watchdog = yield* Effect.forkChild(Tenure.watchdog(tenure))
      yield* TestClock.adjust("3 seconds")
      tenure.renewedUnsafe(2_000)
      yield* TestClock.adjust("5 seconds")
      tenure.failedUnsafe("first")
      yield* TestClock.adjust("1 seconds")
      tenure.failedUnsafe("second")
      yield* TestClock.adjust("2999 millis")
      assert.isTrue(tenure.term.isValidUnsafe())
      assert.isUndefined(watchdog.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isFalse(tenure.term.isValidUnsafe())
      // An answer that comes too late brings nothing back.
      tenure.renewedUnsafe(11_000)
      assert.isFalse(tenure.term.isValidUnsafe())
      assert.isDefined(watchdog.pollUnsafe())
      const lost = yield* tenure.term.lost
      assert.deepInclude(lost, {
        reason: "NotRenewed",
        message: "no renewal succeeded for 10s; last error: second"
      })
    })
  )

  it.effect("the first reason stays, and ends the watchdog", () =>
    Effect.gen(function* () {
      const tenure = yield* Tenure.make(settings, 0)
      const watchdog = yield* Effect.forkChild(Tenure.watchdog(tenure))
      yield* TestClock.adjust("1 seconds")
      tenure.endUnsafe("Stolen", "by b")
      tenure.endUnsafe("Released", "too late")
      yield* Fiber.join(watchdog)
      assert.deepInclude(yield* tenure.term.lost, { reason: "Stolen", message: "by b" })
      assert.isFalse(tenure.term.isValidUnsafe())
    })
  )
})
