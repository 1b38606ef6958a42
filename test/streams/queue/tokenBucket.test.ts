import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as TokenBucket from "../../../src/streams/queue/tokenBucket.ts"

describe("tokenBucket", () => {
  it("grants a burst at once, then tokens at the rate", () => {
    let now = 0
    const wait = TokenBucket.make({ perSecond: 10, burst: 3 }, () => now)
    assert.deepStrictEqual([wait(), wait(), wait(), wait(), wait()], [0, 0, 0, 100, 200])
    now = 1000
    assert.strictEqual(wait(), 0)
  })

  it("never holds more than a burst, however long no token is taken", () => {
    let now = 0
    const wait = TokenBucket.make({ perSecond: 10, burst: 2 }, () => now)
    now = 1_000_000
    assert.deepStrictEqual([wait(), wait(), wait()], [0, 0, 100])
  })

  it.effect("in a queue, a retry waits for its backoff and for a token", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make({ bucket: { perSecond: 10, burst: 1 } })
      const delays = ["a", "b", "a"].map((key) => queue.addWithUnsafe(key, { rateLimited: true }))
      assert.deepStrictEqual(delays, [5, 100, 200])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(queue.addWithUnsafe("a", { rateLimited: true }), 20)
    }).pipe(Effect.scoped)
  )
})
