import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as LeadershipTerm from "../../src/leader/leadershipTerm.ts"

const settings = { identity: "a", leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }

describe("leadershipTerm", () => {
  /**
   * Another thread renews, and shared memory shows a renewal before its message arrives: the one of second 9 in time, and the one of second 18 too
   * late. The term is not read between 10 s and 12 s, as in a busy process.
   */
  it.effect("is extended by renewals of another thread, until it was seen expired", () =>
    Effect.gen(function* () {
      let proven = 0
      const leadershipTerm = yield* LeadershipTerm.make(settings, 0, () => proven)
      yield* TestClock.adjust("9 seconds")
      proven = 9_000
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(leadershipTerm.term.isValidUnsafe())
      assert.strictEqual(leadershipTerm.remainingUnsafe(), 7_000)
      yield* TestClock.adjust("7 seconds")
      assert.isFalse(leadershipTerm.term.isValidUnsafe())
      proven = 18_000
      assert.isFalse(leadershipTerm.term.isValidUnsafe(), "what was seen without proof stays so")
      assert.isAtMost(leadershipTerm.remainingUnsafe(), 0)
    })
  )

  /** Successful renewals are sent at 0 s and 2 s; failures are noticed at 8 s and 9 s; the term ends at 12 s exactly. */
  it.effect("ends one renew deadline after the last success was sent", () =>
    Effect.gen(function* () {
      const leadershipTerm = yield* LeadershipTerm.make(settings, 0)
      const watchdog = yield* Effect.forkChild(LeadershipTerm.watchdog(leadershipTerm))
      yield* TestClock.adjust("3 seconds")
      leadershipTerm.renewedUnsafe(2_000)
      yield* TestClock.adjust("5 seconds")
      leadershipTerm.failedUnsafe("first")
      yield* TestClock.adjust("1 seconds")
      leadershipTerm.failedUnsafe("second")
      yield* TestClock.adjust("2999 millis")
      assert.isTrue(leadershipTerm.term.isValidUnsafe())
      assert.isUndefined(watchdog.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isFalse(leadershipTerm.term.isValidUnsafe())
      // A response that arrives too late does not revive the term.
      leadershipTerm.renewedUnsafe(11_000)
      assert.isFalse(leadershipTerm.term.isValidUnsafe())
      assert.isDefined(watchdog.pollUnsafe())
      const lost = yield* leadershipTerm.term.lost
      assert.deepInclude(lost, {
        reason: "NotRenewed",
        message: "no renewal succeeded for 10s; last error: second"
      })
    })
  )

  it.effect("the first reason stays, and ends the watchdog", () =>
    Effect.gen(function* () {
      const leadershipTerm = yield* LeadershipTerm.make(settings, 0)
      const watchdog = yield* Effect.forkChild(LeadershipTerm.watchdog(leadershipTerm))
      yield* TestClock.adjust("1 seconds")
      leadershipTerm.endUnsafe("Stolen", "by b")
      leadershipTerm.endUnsafe("Released", "too late")
      yield* Fiber.join(watchdog)
      assert.deepInclude(yield* leadershipTerm.term.lost, { reason: "Stolen", message: "by b" })
      assert.isFalse(leadershipTerm.term.isValidUnsafe())
    })
  )
})
