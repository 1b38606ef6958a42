import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import { runs } from "../../support/runs.ts"
import { empty, sizes, takeAll } from "./observed.ts"

describe("KeyedQueue", () => {
  it.effect("holds a key once, and hands out higher priorities first, equals in the order of arrival", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      queue.addAllUnsafe(["a", "b", "a"])
      queue.addUnsafe("low", KeyedQueue.LOW)
      queue.addUnsafe("c")
      queue.addUnsafe("high", 10)
      queue.addUnsafe("a", Number.NaN)
      assert.deepStrictEqual(takeAll(queue), ["high", "a", "b", "c", "low"])
    })
  )

  it.effect("a key whose priority is raised goes behind the keys of that priority", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      queue.addAllUnsafe(["a", "b", "c"], KeyedQueue.LOW)
      queue.addUnsafe("x")
      queue.addUnsafe("b")
      assert.deepStrictEqual(takeAll(queue), ["x", "b", "a", "c"])
    })
  )

  it.effect("a key added while in flight is handed out after done, with the highest priority of the adds", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      yield* queue.add("a")
      assert.strictEqual(yield* queue.take, "a")
      queue.addUnsafe("a", KeyedQueue.LOW)
      queue.addUnsafe("a", 5)
      queue.addUnsafe("b")
      assert.strictEqual(queue.takeUnsafe(), "b")
      assert.isUndefined(queue.takeUnsafe())
      yield* queue.done("a")
      assert.strictEqual(queue.priority("a"), 5)
      assert.strictEqual(queue.takeUnsafe(), "a")
      yield* queue.done("a")
      yield* queue.done("b")
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("a delayed key becomes ready at the earliest of its times, equals in order, with one timer", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      yield* queue.add("late", { after: "10 seconds" })
      yield* queue.add("a", { after: "2 seconds" })
      yield* queue.add("b", { after: "2 seconds" })
      yield* queue.add("late", { after: "3 seconds" })
      yield* queue.add("late", { after: "1 hour" })
      yield* queue.add("never", { after: Duration.infinity })
      yield* queue.add("now", { after: -5 })
      assert.deepStrictEqual(takeAll(queue), ["now"])
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(takeAll(queue), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(takeAll(queue), ["a", "b"])
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(takeAll(queue), ["late"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([takeAll(queue), queue.stats().waiting], [[], 1])
    })
  )

  it.effect("the backoff doubles from 5 ms to 1000 s, forget resets it, and a shorter `after` takes precedence", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const delays = Array.from({ length: 20 }, () => {
        const delay = queue.addWithUnsafe("a", { rateLimited: true })
        queue.addUnsafe("a")
        assert.deepStrictEqual(takeAll(queue), ["a"])
        return delay
      })
      assert.deepStrictEqual(delays.slice(0, 4), [5, 10, 20, 40])
      assert.deepStrictEqual(delays.slice(17), [655_360, 1_000_000, 1_000_000])
      assert.strictEqual(queue.failures("a"), 20)
      assert.strictEqual(queue.addWithUnsafe("a", { rateLimited: true, after: "1 seconds" }), 1000)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(takeAll(queue), ["a"])
      yield* queue.forget("a")
      assert.strictEqual(queue.addWithUnsafe("a", { rateLimited: true, after: "1 seconds" }), 5)
    })
  )

  it.effect("a waiting low key gains 20 levels per 30 s up to normal, unless ageing is off", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const off = yield* KeyedQueue.make({ aging: "off" })
      for (const each of [queue, off]) each.addUnsafe("low", KeyedQueue.LOW)
      yield* TestClock.adjust("149 seconds")
      for (const each of [queue, off]) each.addUnsafe("x")
      assert.strictEqual(queue.takeUnsafe(), "x")
      yield* TestClock.adjust("1 seconds")
      for (const each of [queue, off]) each.addUnsafe("y")
      assert.strictEqual(queue.takeUnsafe(), "low")
      assert.deepStrictEqual(takeAll(off), ["x", "y", "low"])
    })
  )

  it.effect("consumers wait in order, and an add never runs them inside the caller", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const seen: Array<string> = []
      const taker = (name: string) => Effect.map(queue.take, (key) => void seen.push(`${name}:${key}`))
      const fibers = [yield* start(taker("1")), yield* start(taker("2")), yield* start(taker("3"))]
      yield* Fiber.interrupt(fibers[0]!)
      queue.addAllUnsafe(["a", "b"])
      assert.deepStrictEqual(seen, [])
      yield* Fiber.joinAll(fibers.slice(1))
      assert.deepStrictEqual(seen, ["2:a", "3:b"])
    })
  )

  it.effect("shutdown ignores adds, drops queued keys, and ends every consumer", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const takers = yield* Effect.forEach([1, 2, 3], () => start(Effect.exit(queue.take)))
      queue.addAllUnsafe(["a"])
      yield* queue.add("b", { after: "1 seconds" })
      yield* queue.shutdown
      queue.addUnsafe("c")
      assert.isUndefined(queue.addWithUnsafe("c", { rateLimited: true }))
      for (const exit of yield* Fiber.joinAll(takers)) assert.isTrue(Exit.isFailure(exit) && isDone(exit.cause))
      assert.isTrue(isDone(yield* causeOf(queue.take)))
      assert.isTrue(isDone(yield* causeOf(queue.process(() => Effect.void))))
      assert.deepStrictEqual(sizes(queue), empty)
      yield* queue.shutdown
      yield* queue.shutdownWithDrain
    })
  )

  it.effect("a drain finishes ready keys, keys in flight and keys added again, and drops delayed keys", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      queue.addAllUnsafe(["a", "b"])
      yield* queue.add("later", { after: "1 seconds" })
      assert.strictEqual(yield* queue.take, "a")
      queue.addUnsafe("a")
      const drained = yield* start(queue.shutdownWithDrain)
      queue.addUnsafe("c")
      assert.strictEqual(yield* queue.take, "b")
      queue.releaseUnsafe("b")
      assert.strictEqual(yield* queue.take, "b")
      yield* queue.done("a")
      assert.strictEqual(yield* queue.take, "a")
      const taker = yield* start(Effect.exit(queue.take))
      yield* queue.done("a")
      assert.isUndefined(drained.pollUnsafe())
      yield* queue.done("b")
      yield* Fiber.join(drained)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(taker)))
    })
  )

  it.effect("one timer serves all delays, in any order of adds", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeping = 0
      let most = 0
      const counting = new Proxy(clock, {
        get: (target, name, receiver) =>
          name === "sleep"
            ? (duration: Duration.Duration) =>
                Effect.acquireUseRelease(
                  Effect.sync(() => (most = Math.max(most, ++sleeping))),
                  () => clock.sleep(duration),
                  () => Effect.sync(() => void sleeping--)
                )
            : Reflect.get(target, name, receiver)
      })
      const queue = yield* Effect.provideService(KeyedQueue.make(), Clock.Clock, counting)
      for (let i = 0; i < 2000; i++) queue.addWithUnsafe(`k${i}`, { after: i % 2 === 0 ? 5000 - i : 5000 + i })
      assert.deepStrictEqual([sleeping, most, queue.stats().waiting], [1, 1, 2000])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([sleeping, most, takeAll(queue).length], [0, 1, 2000])
    })
  )

  it.effect("closing the scope shuts the queue down", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const queue = yield* Scope.provide(KeyedQueue.make({ name: "pods" }), scope)
      assert.strictEqual(queue.name, "pods")
      yield* queue.add("a", { after: "1 seconds" })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(queue.endedUnsafe())
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("idle waits for ready keys and keys in flight, not for delayed keys", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      yield* queue.idle
      yield* queue.add("later", { after: "1 seconds" })
      yield* queue.add("a")
      const idle = yield* start(queue.idle)
      yield* queue.take
      queue.addUnsafe("a")
      yield* queue.done("a")
      yield* queue.take
      assert.isUndefined(idle.pollUnsafe())
      yield* queue.done("a")
      yield* Fiber.join(idle)
      assert.strictEqual(queue.stats().waiting, 1)
    })
  )

  it.effect("many keys that are due at the same time all become ready", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      const keys = Array.from({ length: 10_000 }, (_, i) => `k${i}`)
      for (const key of keys) queue.addWithUnsafe(key, { after: 1000 })
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(takeAll(queue), keys)
    })
  )

  it.effect("case 16: ten thousand create/delete cycles leave nothing behind", () =>
    Effect.gen(function* () {
      const queue = yield* KeyedQueue.make()
      for (let i = 0; i < 10_000; i++) {
        const key = `ns/${i}`
        queue.addUnsafe(key, i % 3 === 0 ? KeyedQueue.LOW : i % 7)
        assert.strictEqual(queue.takeUnsafe(), key)
        queue.addWithUnsafe(key, { rateLimited: true })
        queue.doneUnsafe(key)
        yield* TestClock.adjust(5)
        assert.strictEqual(queue.takeUnsafe(), key)
        queue.forgetUnsafe(key)
        queue.doneUnsafe(key)
      }
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )
})

const start = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const causeOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(Effect.sandbox(effect))

const isDone = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((r) => Cause.isFailReason(r) && Cause.isDone(r.error))

const Act = Schema.Struct({
  do: Schema.Literals([
    "add",
    "addTwo",
    "take",
    "process",
    "interrupt",
    "interruptLast",
    "finish",
    "turn",
    "later",
    "advance"
  ]),
  n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
})
type Act = typeof Act.Type

/** Random consumers, interrupted at random: no key is lost, none is in flight twice, no consumer waits while a key is ready. */
const takersProperty = (acts: ReadonlyArray<Act>) =>
  Effect.gen(function* () {
    const queue = yield* KeyedQueue.make()
    const wanted = new Set<string>()
    const held = new Set<string>()
    const finish: Array<() => void> = []
    /** Fibers that have not ended, and those of them that wait for a key. */
    const alive = new Set<Fiber.Fiber<unknown, unknown>>()
    const parked = new Set<Fiber.Fiber<unknown, unknown>>()
    let now = 0
    const delays: Array<number> = []
    const hold = (key: string): void => {
      assert.isFalse(held.has(key), "two holders of one key")
      held.add(key)
      wanted.delete(key)
    }
    const add = (n: number): void => {
      wanted.add(`k${n}`)
      queue.addUnsafe(`k${n}`)
    }
    const fork = (body: (self: () => void) => Effect.Effect<void, unknown>) =>
      Effect.gen(function* () {
        let fiber: Fiber.Fiber<void, unknown> | undefined = undefined
        let got = false
        const started = yield* start(
          body(() => {
            got = true
            if (fiber !== undefined) parked.delete(fiber)
          })
        )
        fiber = started
        if (started.pollUnsafe() !== undefined) return
        alive.add(started)
        if (!got) parked.add(started)
        started.addObserver(() => {
          alive.delete(started)
          parked.delete(started)
        })
      })
    const taker = (self: () => void) =>
      Effect.uninterruptible(
        Effect.map(Effect.interruptible(queue.take), (key) => {
          self()
          hold(key)
          finish.push(() => {
            held.delete(key)
            queue.doneUnsafe(key)
          })
        })
      )
    const processor = (self: () => void) =>
      queue.process((key) =>
        Effect.ensuring(
          Effect.callback<void>((resume) => {
            self()
            hold(key)
            finish.push(() => resume(Effect.void))
          }),
          Effect.sync(() => held.delete(key))
        )
      )
    for (const act of acts) {
      if (act.do === "add") add(act.n)
      if (act.do === "addTwo") [act.n, act.n + 1].forEach(add)
      if (act.do === "later") {
        wanted.add(`k${act.n}`)
        queue.addWithUnsafe(`k${act.n}`, { after: act.n + 1 })
        delays.push(now + act.n + 1)
      }
      if (act.do === "take") yield* fork(taker)
      if (act.do === "process") yield* fork(processor)
      if (act.do === "interrupt" || act.do === "interruptLast") {
        const all = [...alive]
        // Not awaited: the next step may run in the same synchronous section.
        const fiber = act.do === "interrupt" ? all[0] : all.at(-1)
        fiber?.interruptUnsafe()
      }
      if (act.do === "finish") finish.shift()?.()
      if (act.do === "advance") {
        yield* TestClock.adjust(act.n)
        now += act.n
        assert.isAtMost(queue.stats().waiting, delays.filter((due) => due > now).length, "a key waits beyond its time")
      }
      if (act.do === "turn") yield* Effect.yieldNow
    }
    // After this all scheduled wake-ups have run.
    yield* TestClock.adjust(10)
    yield* Effect.yieldNow
    assert.strictEqual(queue.stats().processing, held.size, "a key in flight without a holder")
    assert.isFalse(queue.stats().ready > 0 && parked.size > 0, "a taker waits beside a ready key")
    for (let step = finish.shift(); step !== undefined; step = finish.shift()) step()
    for (const fiber of alive) fiber.interruptUnsafe()
    for (let key = queue.takeUnsafe(); key !== undefined; key = queue.takeUnsafe()) {
      hold(key)
      held.delete(key)
      queue.doneUnsafe(key)
    }
    assert.deepStrictEqual([...wanted], [], "lost keys")
    const { processing, ready, waiting: delayed } = queue.stats()
    assert.deepStrictEqual([processing, ready, delayed], [0, 0, 0])
    return true
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

describe("takers of a KeyedQueue", () => {
  it.effect("that are interrupted at random lose no key and miss no wake-up", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.array(Arbitrary.schema(Act), { maxLength: 60 }),
        (acts) => Effect.catchDefect(takersProperty(acts), (defect) => Effect.fail(defect)),
        { size: 60, runs: runs(300) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )
})
