import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { TestClock } from "effect/testing"
import { Quiescence } from "../../src/layers/Quiescence.ts"

const settle = Effect.flatMap(Quiescence, (quiescence) => quiescence.settle)

describe("Quiescence", () => {
  it.effect("settle returns at once when nothing runs", () =>
    Effect.gen(function* () {
      yield* settle
      yield* settle
      assert.strictEqual((yield* Quiescence).pending(), 0)
    }).pipe(Effect.provide(Quiescence.layer))
  )

  it.effect("settle waits for a pipeline of any depth, however often its fibers yield", () =>
    Effect.gen(function* () {
      const depth = 50
      const queues = yield* Effect.all(Array.from({ length: depth + 1 }, () => Queue.unbounded<number>()))
      for (let i = 0; i < depth; i++) {
        yield* Queue.take(queues[i]!).pipe(
          Effect.tap(() => Effect.repeat(Effect.yieldNow, { times: 7 })),
          Effect.flatMap((n) => Queue.offer(queues[i + 1]!, n + 1)),
          Effect.forever,
          Effect.forkScoped
        )
      }
      yield* Queue.offer(queues[0]!, 0)
      yield* settle
      assert.deepStrictEqual(yield* Queue.takeAll(queues[depth]!), [depth])
    }).pipe(Effect.provide(Quiescence.layer))
  )

  it.effect("settle does not wait for a sleeping fiber", () =>
    Effect.gen(function* () {
      let woken = false
      yield* Effect.sleep("1 second").pipe(Effect.andThen(Effect.sync(() => (woken = true))), Effect.forkScoped)
      yield* settle
      assert.isFalse(woken)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.isTrue(woken)
    }).pipe(Effect.provide(Quiescence.layer))
  )

  it.effect("two concurrent calls of settle both return", () =>
    Effect.gen(function* () {
      const results = yield* Effect.all([settle, settle, settle], { concurrency: "unbounded" })
      assert.strictEqual(results.length, 3)
    }).pipe(Effect.provide(Quiescence.layer))
  )
})
