import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Tenure from "../../src/leader/tenure.ts"
import { load } from "../support/mutant.ts"

type Module = typeof Tenure

const settings = { identity: "a", leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }

/** Successes are sent at 0 and 2 s; failures are noticed at 8 s and 9 s; the term is over at 12 s sharp. */
const endsOnTime = (module: Module) =>
  Effect.gen(function* () {
    const tenure = yield* module.make(settings, 0)
    const watchdog = yield* Effect.forkChild(module.watchdog(tenure))
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

/**
 * Somebody else renews, and we see it in memory we share before we are told: at 9 s and, too late, at 30 s. Nobody looks between
 * 10 s and 12 s, as in a process that is busy.
 */
const believesMemory = (module: Module) =>
  Effect.gen(function* () {
    let proven = 0
    const tenure = yield* module.make(settings, 0, () => proven)
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

const mutants = [
  {
    title: "renew deadline counted from the first failure",
    find: "lastError = message\n",
    replace: "if (lastError === '') until = now() + settings.renewDeadline\n      lastError = message\n"
  },
  {
    title: "renew deadline counted from the answer",
    find: "until = Math.max(until, LeasePolicy.validUntil(sentAt, settings))",
    replace: "until = Math.max(until, LeasePolicy.validUntil(now(), settings))"
  },
  {
    title: "a late answer revives the term",
    find: "const isValidUnsafe = () => !Deferred.isDoneUnsafe(lost) && remainingUnsafe() > 0",
    replace: "const isValidUnsafe = () => remainingUnsafe() > Number.NEGATIVE_INFINITY"
  }
]

describe("tenure", () => {
  it.effect("believes what another thread has proven, until it is seen without proof", () => believesMemory(Tenure))

  const forgetful = { title: "proof comes back", find: "if (remaining <= 0) expired = true", replace: "" }
  it.effect(`mutant is caught: ${forgetful.title}`, () =>
    Effect.gen(function* () {
      const mutant = yield* Effect.promise(() => load<Module>("leader/tenure.ts", forgetful))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.scoped(believesMemory(mutant)))))
    })
  )

  it.effect("ends one renew deadline after the last success was sent", () => endsOnTime(Tenure))

  for (const mutation of mutants) {
    it.effect(`mutant is caught: ${mutation.title}`, () =>
      Effect.gen(function* () {
        const mutant = yield* Effect.promise(() => load<Module>("leader/tenure.ts", mutation))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(endsOnTime(mutant))))
      })
    )
  }

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
