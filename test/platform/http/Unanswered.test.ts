import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Unanswered from "../../../src/platform/http/Unanswered.ts"

const unreachable = Object.assign(new Error("unreachable"), { code: "ETIMEDOUT" })

/** Requests, and a server whose reachability the test sets. */
const made = Effect.gen(function* () {
  const server = { looks: 0, isThere: true, millis: 0 }
  const unanswered = yield* Unanswered.make(
    Effect.suspend(() => {
      server.looks++
      return Effect.andThen(Effect.sleep(server.millis), server.isThere ? Effect.void : Effect.fail(unreachable))
    })
  )
  const ask = () => {
    const request = {
      forget: (): void => undefined,
      isUnanswered: true,
      failure: undefined as string | undefined,
      failUnsafe: (error: Error) => {
        request.isUnanswered = false
        request.failure = error.message
      }
    }
    request.forget = unanswered.addUnsafe(request)
    return request
  }
  return { server, ask }
})

describe("requests without an answer", () => {
  it.effect("fail after 30 s if the server is unreachable, and younger requests do not", () =>
    Effect.gen(function* () {
      const { ask, server } = yield* made
      server.isThere = false
      const old = [ask(), ask()]
      yield* TestClock.adjust("10 seconds")
      const young = ask()
      yield* TestClock.adjust("19999 millis")
      assert.deepStrictEqual([old[0]?.failure, server.looks], [undefined, 0])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        [old[0]?.failure, old[1]?.failure, young.failure],
        ["unreachable", "unreachable", undefined]
      )
      assert.strictEqual(server.looks, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(young.failure, "unreachable")
    }).pipe(Effect.scoped)
  )

  it.effect("fail within 40 s whenever they were sent, although the check takes 10 s", () =>
    Effect.gen(function* () {
      const { ask, server } = yield* made
      server.isThere = false
      server.millis = 10_000
      const old = ask()
      yield* TestClock.adjust("1 millis")
      const young = ask()
      yield* TestClock.adjust("39999 millis")
      assert.deepStrictEqual([old.failure, young.failure], ["unreachable", "unreachable"])
    }).pipe(Effect.scoped)
  )

  it.effect("continue while the server is reachable, which is checked every 30 s", () =>
    Effect.gen(function* () {
      const { ask, server } = yield* made
      const slow = ask()
      yield* TestClock.adjust("95 seconds")
      assert.deepStrictEqual([slow.failure, server.looks], [undefined, 3])
      server.isThere = false
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual(slow.failure, "unreachable")
    }).pipe(Effect.scoped)
  )

  it.effect("open no connection if they end within 30 s", () =>
    Effect.gen(function* () {
      const { ask, server } = yield* made
      for (let second = 0; second < 120; second++) {
        const request = ask()
        yield* TestClock.adjust("1 second")
        if (second % 2 === 0) request.isUnanswered = false
        else request.forget()
      }
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(server.looks, 0)
    }).pipe(Effect.scoped)
  )
})
