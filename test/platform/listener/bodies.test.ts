/** The memory that request bodies use at most, with fast, slow and silent clients. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import { Bodies, type BodyError } from "../../../src/platform/listener/bodies.ts"

const mebibyte = 1024 * 1024
const limit = 7 * mebibyte
const part = new Uint8Array(mebibyte)

/** A client that has sent so many parts and sends more when the test says so; undefined is the end of the body. */
const client = Effect.fnUntraced(function* (bodies: Bodies, parts: number) {
  const sent = yield* Queue.unbounded<Uint8Array | undefined>()
  for (let index = 0; index < parts; index++) yield* Queue.offer(sent, part)
  const { parts: read, releaseUnsafe } = bodies.make(Queue.take(sent), limit)
  const fiber = yield* Effect.forkChild(read, { startImmediately: true })
  yield* Effect.yieldNow
  return {
    send: (...more: ReadonlyArray<Uint8Array | undefined>) => Effect.andThen(Queue.offerAll(sent, more), settle),
    releaseUnsafe,
    /** The size in megabytes, or the status of the rejection, or undefined while the body arrives. */
    outcome: () => {
      const exit = fiber.pollUnsafe()
      if (exit === undefined) return undefined
      return Exit.isSuccess(exit)
        ? exit.value.length
        : (exit.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? [reason.error] : []))[0] as BodyError)
            .status
    },
    fiber
  }
})

const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

describe("a body", () => {
  it.effect("consists of all its parts", () =>
    Effect.gen(function* () {
      const one = yield* client(new Bodies(), 2)
      assert.isUndefined(one.outcome())
      yield* one.send(part, undefined)
      assert.strictEqual(one.outcome(), 3)
    })
  )

  it.effect("must arrive within five seconds, however often a part arrives", () =>
    Effect.gen(function* () {
      const one = yield* client(new Bodies(), 0)
      for (let second = 0; second < 5; second++) {
        assert.isUndefined(one.outcome())
        yield* one.send(new Uint8Array(1))
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(one.outcome(), 408)
    })
  )

  it.effect("that is too long is rejected at its end, and takes none of the budget", () =>
    Effect.gen(function* () {
      const bodies = new Bodies()
      const long = yield* Effect.forEach(Array.from({ length: 10 }), () => client(bodies, 8))
      const other = yield* client(bodies, 7)
      yield* other.send(undefined)
      assert.strictEqual(other.outcome(), 7)
      yield* Effect.forEach(long, ({ send }) => send(undefined))
      assert.deepStrictEqual(
        long.map(({ outcome }) => outcome()),
        long.map(() => 413)
      )
    })
  )
})

describe("bodies together", () => {
  it.effect("of slow clients are dropped for others, the oldest first", () =>
    Effect.gen(function* () {
      const bodies = new Bodies()
      const slow = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        Effect.tap(client(bodies, 6), () => TestClock.adjust("100 millis"))
      )
      yield* TestClock.adjust("1 second")
      const quick = yield* client(bodies, 4)
      yield* quick.send(undefined)
      assert.strictEqual(quick.outcome(), 4)
      assert.deepStrictEqual(
        slow.map(({ outcome }) => outcome()),
        [503, undefined, undefined, undefined, undefined]
      )
    })
  )

  it.effect("wait for the budget while all of them are young, and continue when one is released", () =>
    Effect.gen(function* () {
      const bodies = new Bodies()
      const all = yield* Effect.forEach(Array.from({ length: 9 }), () => client(bodies, 4))
      yield* Effect.forEach(all, ({ send }) => send(undefined))
      assert.deepStrictEqual(
        all.map(({ outcome }) => outcome()),
        [4, 4, 4, 4, 4, 4, 4, 4, undefined]
      )
      all[3]?.releaseUnsafe()
      yield* settle
      assert.strictEqual(all[8]?.outcome(), 4)
    })
  )

  it.effect("that have arrived and are in use are never dropped; a small one needs no budget", () =>
    Effect.gen(function* () {
      const bodies = new Bodies()
      const used = yield* Effect.forEach(Array.from({ length: 8 }), () => client(bodies, 4))
      yield* Effect.forEach(used, ({ send }) => send(undefined))
      const late = yield* client(bodies, 1)
      const small = yield* client(bodies, 0)
      yield* small.send(new Uint8Array(64 * 1024), undefined)
      assert.strictEqual(small.outcome(), 1)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(
        [...used, late].map(({ outcome }) => outcome()),
        [4, 4, 4, 4, 4, 4, 4, 4, 408]
      )
    })
  )

  it.effect("release their share of the budget, however they end", () =>
    Effect.gen(function* () {
      const bodies = new Bodies()
      for (let round = 0; round < 20; round++) {
        const all = yield* Effect.forEach(Array.from({ length: 6 }), () => client(bodies, 7))
        yield* TestClock.adjust("1 second")
        yield* all[5]?.send(undefined) ?? Effect.void
        yield* Fiber.interrupt(all[1]?.fiber ?? assert.fail())
        yield* TestClock.adjust("5 seconds")
        for (const { releaseUnsafe } of all) releaseUnsafe()
      }
      const last = yield* Effect.forEach(Array.from({ length: 8 }), () => client(bodies, 4))
      yield* Effect.forEach(last, ({ send }) => send(undefined))
      assert.deepStrictEqual(
        last.map(({ outcome }) => outcome()),
        [4, 4, 4, 4, 4, 4, 4, 4]
      )
    })
  )
})
