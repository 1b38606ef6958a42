import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as IdleMemory from "../../src/platform/idleMemory.ts"

const mib = 1024 * 1024

/** A heap that a collection reduces to 40 MiB; it counts the collections. */
const fake = (content: { occupied: number; cpu: number }) => {
  let collections = 0
  const heap: IdleMemory.Heap = {
    occupiedUnsafe: () => content.occupied,
    cpuMillisUnsafe: () => content.cpu,
    collect: Effect.sync(() => {
      collections++
      content.occupied = 40 * mib
    })
  }
  return { content, heap, collections: () => collections }
}

/** A clock whose monotonic time goes on while the event loop is blocked. */
const elapsing = Effect.map(Clock.Clock, (test) => {
  let blocked = 0n
  const clock: Clock.Clock = {
    currentTimeMillis: test.currentTimeMillis,
    currentTimeNanos: test.currentTimeNanos,
    monotonicTimeNanos: test.monotonicTimeNanos,
    currentTimeMillisUnsafe: () => test.currentTimeMillisUnsafe(),
    currentTimeNanosUnsafe: () => test.currentTimeNanosUnsafe(),
    monotonicTimeNanosUnsafe: () => test.monotonicTimeNanosUnsafe() + blocked,
    sleep: (duration) => test.sleep(duration)
  }
  return { clock, elapse: (millis: number) => void (blocked += BigInt(millis) * 1_000_000n) }
})

describe("idleMemory", () => {
  it.effect("collects once after a burst, when the process has been idle for ten seconds", () =>
    Effect.gen(function* () {
      const { collections, content, heap } = fake({ occupied: 30 * mib, cpu: 0 })
      yield* Effect.forkChild(IdleMemory.release(heap))
      for (let seconds = 0; seconds < 60; seconds++) {
        content.cpu += 500
        content.occupied += 2 * mib
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(collections(), 0)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(collections(), 1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(collections(), 1)
    })
  )

  it.effect("collects again when an idle process has grown by 16 MiB", () =>
    Effect.gen(function* () {
      const { collections, content, heap } = fake({ occupied: 60 * mib, cpu: 0 })
      yield* Effect.forkChild(IdleMemory.release(heap))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(collections(), 1)
      content.occupied += 16 * mib - 1
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(collections(), 1)
      content.occupied += 1
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(collections(), 2)
    })
  )

  it.effect("spends at most a hundredth of the time on collections", () =>
    Effect.gen(function* () {
      const { collections, content, heap } = fake({ occupied: 100 * mib, cpu: 0 })
      const { clock, elapse } = yield* elapsing
      const slow: IdleMemory.Heap = {
        ...heap,
        collect: Effect.tap(
          heap.collect,
          Effect.sync(() => elapse(500))
        )
      }
      yield* Effect.forkChild(Effect.provideService(IdleMemory.release(slow), Clock.Clock, clock))
      for (let tens = 0; tens < 30; tens++) {
        yield* TestClock.adjust("10 seconds")
        content.occupied = 100 * mib
      }
      assert.strictEqual(collections(), 6)
    })
  )

  it.effect("does not stop a program with a heap of more than 256 MiB", () =>
    Effect.gen(function* () {
      const { collections, heap } = fake({ occupied: 300 * mib, cpu: 0 })
      yield* Effect.forkChild(IdleMemory.release(heap))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(collections(), 0)
    })
  )

  it.effect("collects the heap of this process", () =>
    Effect.gen(function* () {
      const heap = IdleMemory.thisHeap()
      assert.isDefined(heap)
      // In a function of its own, so that nothing on the stack refers to what it leaves.
      const waste = () => {
        const buffers = Array.from({ length: 64 }, () => new Uint8Array(mib))
        return heap.occupiedUnsafe() - buffers.length
      }
      const before = waste()
      yield* heap.collect
      assert.isBelow(heap.occupiedUnsafe(), before - 32 * mib)
    })
  )
})
