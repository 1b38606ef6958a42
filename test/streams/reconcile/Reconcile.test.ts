import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import { empty, sizes } from "../queue/observed.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly key: string }> {}

/** A queue and a loop over it; `log` has one line per event. */
const loop = <E, R>(
  reconcile: (key: string) => Effect.Effect<Reconcile.Outcome | void, E, R>,
  options?: Partial<Reconcile.Options<string, E, R>>
) =>
  Effect.gen(function* () {
    const queue = yield* KeyedQueue.make()
    const log: Array<string> = []
    const events: Array<Reconcile.RunEvent<string, E>> = []
    const observe = (event: Reconcile.RunEvent<string, E>): void => {
      events.push(event)
      const delay = "delay" in event && event.delay !== undefined ? ` +${event.delay}` : ""
      if (event._tag !== "Started") log.push(`${event.key} ${event._tag}${delay}`)
    }
    const fiber = yield* Effect.forkChild(Reconcile.run(queue, { concurrency: 2, reconcile, observe, ...options }), {
      startImmediately: true
    })
    return { queue, log, events, fiber }
  })

describe("Reconcile", () => {
  it.effect("gives up a key after its retries, resets its backoff, and runs it again when it is added", () =>
    Effect.gen(function* () {
      const { events, log, queue } = yield* loop((key) => Effect.fail(new Refused({ key })), { retries: 2 })
      queue.addUnsafe("hopeless")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(log, ["hopeless Failed +5", "hopeless Failed +10", "hopeless GaveUp"])
      assert.strictEqual(events.find((event) => event._tag === "GaveUp")?.attempt, 3)
      assert.deepStrictEqual(sizes(queue), empty)
      queue.addUnsafe("hopeless")
      yield* queue.idle
      assert.strictEqual(log.at(-1), "hopeless Failed +5")
    })
  )

  it.effect("done and after reset the backoff, a failure backs off, a terminal failure is not retried", () =>
    Effect.gen(function* () {
      const failures: Record<string, number> = { flaky: 3, hopeless: 1 }
      const reconcile = (key: string): Effect.Effect<Reconcile.Outcome | void, Refused | Reconcile.TerminalError> => {
        if ((failures[key] ?? 0) > 0) {
          failures[key]!--
          return Effect.fail(new Refused({ key }))
        }
        if (key === "hopeless") return Effect.fail(Reconcile.terminal(new Error("no such zone")))
        return Effect.succeed(key === "again" ? Reconcile.after("10 seconds") : Reconcile.done)
      }
      const { events, log, queue } = yield* loop(reconcile)
      queue.addAllUnsafe(["plain", "again", "flaky", "hopeless"])
      yield* queue.idle
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(log, [
        "plain Done",
        "again After +10000",
        "flaky Failed +5",
        "hopeless Failed +5",
        "flaky Failed +10",
        "hopeless Terminal",
        "flaky Failed +20",
        "flaky Done",
        "again After +10000",
        "again After +10000"
      ])
      assert.deepStrictEqual(sizes(queue), { ...empty, waiting: 1 })
      const last = events.findLast((event) => event._tag === "Failed")
      assert.deepStrictEqual([last?.attempt, last?.error._tag], [3, "Refused"])
      const terminal = events.find((event) => event._tag === "Terminal")
      assert.strictEqual(terminal?.error.message, "no such zone")
    })
  )

  it.effect("retries and `after` keep the priority, unless `after` has another", () =>
    Effect.gen(function* () {
      let first = true
      const { events, queue } = yield* loop((key) => {
        if (!first) return Effect.void
        first = false
        return key === "x" ? Effect.fail("no") : Effect.void
      })
      queue.addUnsafe("x", KeyedQueue.LOW)
      yield* queue.idle
      yield* TestClock.adjust(5)
      const started = events.filter((event) => event._tag === "Started")
      assert.deepStrictEqual(
        started.map((event) => event.priority),
        [-100, -100]
      )
    })
  )

  it.effect("an add during a long backoff runs at once", () =>
    Effect.gen(function* () {
      let fail = true
      const { log, queue } = yield* loop(() => (fail ? Effect.fail("no") : Effect.void))
      for (let i = 0; i < 12; i++) {
        queue.addUnsafe("a")
        yield* queue.idle
      }
      fail = false
      queue.addUnsafe("a")
      yield* queue.idle
      assert.deepStrictEqual(log.slice(-2), ["a Failed +10240", "a Done"])
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("case 10: a defect, a timeout and an interruption release the key and count a failure", () =>
    Effect.gen(function* () {
      let healthy = false
      const cleaned: Array<string> = []
      const { events, log, queue } = yield* loop((key): Effect.Effect<void> => {
        if (healthy || key === "fine") return Effect.void
        if (key === "throws") throw new Error("in the body")
        if (key === "dies") return Effect.die(new Error("defect"))
        if (key === "selfish") return Effect.interrupt
        if (key === "victim") return Effect.withFiber((fiber) => Effect.sync(() => fiber.interruptUnsafe()))
        return Effect.onInterrupt(Effect.never, () => Effect.sync(() => void cleaned.push(key)))
      })
      queue.addAllUnsafe(["hangs", "throws", "dies", "selfish", "victim", "fine"])
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(log, [
        "throws Defect +5",
        "dies Defect +5",
        "selfish Interrupted +5",
        "victim Interrupted +5",
        "fine Done"
      ])
      healthy = true
      log.length = 0
      yield* TestClock.adjust(299_999)
      assert.deepStrictEqual([log, cleaned], [["throws Done", "dies Done", "selfish Done", "victim Done"], []])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([log.at(-1), cleaned], ["hangs Timeout +5", ["hangs"]])
      yield* TestClock.adjust(5)
      assert.strictEqual(log.at(-1), "hangs Done")
      assert.deepStrictEqual(sizes(queue), empty)
      const timeout = events.find((event) => event._tag === "Timeout")
      assert.deepStrictEqual([timeout?.elapsed, timeout?.limit, timeout?.attempt], [300_000, 300_000, 1])
      const defect = events.find((event) => event._tag === "Defect")
      assert.strictEqual(String(defect?.defect), "Error: in the body")
    })
  )

  it.effect("each run has its own deadline, even if another run delays its interruption", () =>
    Effect.gen(function* () {
      let healthy = false
      const { log, queue } = yield* loop(
        (key) =>
          healthy
            ? Effect.void
            : key === "stubborn"
              ? Effect.uninterruptible(Effect.as(Effect.sleep("15 seconds"), Reconcile.done))
              : Effect.sleep(key === "slow" ? "11 seconds" : "9 seconds"),
        { timeout: "10 seconds", concurrency: 10 }
      )
      queue.addAllUnsafe(["slow", "stubborn"])
      yield* TestClock.adjust("4 seconds")
      queue.addUnsafe("quick")
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(log, ["slow Timeout +5"])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(log, ["slow Timeout +5", "quick Done", "stubborn Timeout +5"])
      healthy = true
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("without a timeout a run has no time limit, and without runs the watchdog has no timer", () =>
    Effect.gen(function* () {
      const { log, queue } = yield* loop(() => Effect.sleep("3 hours"), { timeout: "none" })
      queue.addUnsafe("a")
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(log, ["a Done"])
      const strict = yield* loop(() => Effect.never, { timeout: 0 })
      strict.queue.addUnsafe("b")
      yield* strict.queue.idle
      yield* TestClock.adjust(5)
      assert.deepStrictEqual(strict.log, ["b Timeout +5", "b Timeout +10"])
    })
  )

  it.effect("case 12: 10,000 keys and one that changes all the time run in order, never overlap, never starve", () =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 10_000 }, (_, i) => `k${i}`)
      const order: Array<string> = []
      const running = new Set<string>()
      let hot = 0
      const queue = yield* KeyedQueue.make()
      const body = (key: string): Effect.Effect<void> => {
        assert.isFalse(running.has(key), `${key} runs twice at once`)
        running.add(key)
        order.push(key)
        // The hot key is added three times in each of its first 500 runs; each time it runs exactly once more.
        if (key === "hot" && hot++ < 500) queue.addAllUnsafe(["hot", "hot", "hot"])
        return Effect.flatMap(key === "hot" ? Effect.sleep(1) : Effect.yieldNow, () =>
          Effect.sync(() => void running.delete(key))
        )
      }
      yield* Effect.forkChild(Reconcile.run(queue, { concurrency: 16, reconcile: body }), { startImmediately: true })
      queue.addUnsafe("hot")
      queue.addAllUnsafe(keys)
      // The hot key is ready again after all others, and its run sleeps: on a slow machine later than any fixed step of the clock.
      while (queue.stats().ready + queue.stats().processing > 0) yield* TestClock.adjust(1)
      assert.strictEqual(order.filter((key) => key === "hot").length, 501)
      assert.deepStrictEqual(
        order.filter((key) => key !== "hot"),
        keys
      )
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("case 12: a stream of normal work does not starve a low key", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { queue } = yield* loop(
        (key) =>
          Effect.andThen(
            Effect.sleep("1 seconds"),
            Effect.sync(() => void seen.push(key))
          ),
        {
          concurrency: 1
        }
      )
      queue.addAllUnsafe(["a", "b"])
      queue.addUnsafe("low", KeyedQueue.LOW)
      for (let second = 0; second < 155; second++) {
        queue.addAllUnsafe(["a", "b"])
        yield* TestClock.adjust("1 seconds")
      }
      assert.include(seen, "low")
      assert.isAtLeast(seen.indexOf("low"), 149)
    })
  )

  it.effect("case 16: ten thousand keys that fail, are retried and succeed leave nothing behind", () =>
    Effect.gen(function* () {
      const attempts = new Map<string, number>()
      const { queue } = yield* loop((key): Effect.Effect<Reconcile.Outcome | void, unknown> => {
        const n = (attempts.get(key) ?? 0) + 1
        attempts.set(key, n)
        if (n <= 2) return Effect.fail("not yet")
        if (n === 3)
          return key.endsWith("7") ? Effect.fail(Reconcile.terminal("gone")) : Effect.succeed(Reconcile.after(100))
        return Effect.void
      })
      for (let i = 0; i < 10_000; i++) {
        queue.addUnsafe(`k${i}`)
        if (i % 1000 === 999) yield* TestClock.adjust(50)
      }
      // The clock advances only when no run can proceed.
      while (queue.stats().ready + queue.stats().waiting + queue.stats().processing > 0) {
        yield* queue.idle
        yield* TestClock.adjust(100)
      }
      assert.deepStrictEqual(sizes(queue), empty)
      assert.strictEqual(attempts.size, 10_000)
    })
  )

  it.effect("a defect that is not recovered interrupts the other runs and fails the loop", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { fiber, log, queue } = yield* loop(
        (key) => (key === "bad" ? Effect.andThen(Deferred.await(gate), Effect.die("broken")) : Effect.never),
        { recoverDefects: false }
      )
      queue.addAllUnsafe(["bad", "other"])
      yield* TestClock.adjust(0)
      yield* Deferred.succeed(gate, undefined)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === "broken")
      assert.deepStrictEqual(log, ["bad Defect +5", "other Stopped"])
      assert.deepStrictEqual(sizes(queue), { ready: 1, waiting: 1, processing: 0, failing: 1 })
    })
  )

  it.effect("interrupting the loop interrupts its runs, and the next loop gets their keys", () =>
    Effect.gen(function* () {
      let passed = 0
      const { fiber, log, queue } = yield* loop(() => Effect.onInterrupt(Effect.never, () => Effect.sleep("1 seconds")))
      queue.addUnsafe("a", KeyedQueue.LOW)
      queue.addAllUnsafe(["b", "c"])
      yield* TestClock.adjust(0)
      const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      assert.isUndefined(stopping.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(log, ["b Stopped", "c Stopped"])
      assert.deepStrictEqual(sizes(queue), { ...empty, ready: 3 })
      const next = Reconcile.run(queue, { concurrency: 1, reconcile: () => Effect.sync(() => void passed++) })
      yield* Effect.forkChild(next, { startImmediately: true })
      yield* queue.idle
      assert.strictEqual(passed, 3)
    })
  )

  it.effect("a drain lets ready keys and runs in flight finish, and then ends the loop", () =>
    Effect.gen(function* () {
      const { fiber, log, queue } = yield* loop((key) =>
        key === "fails" ? Effect.fail("no") : Effect.sleep("1 seconds")
      )
      queue.addAllUnsafe(["a", "fails", "b", "c"])
      yield* TestClock.adjust(0)
      const drained = yield* Effect.forkChild(queue.shutdownWithDrain, { startImmediately: true })
      queue.addUnsafe("d")
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(drained)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(log, ["fails Failed +5", "a Done", "b Done", "c Done"])
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("a shutdown ends the loop after the runs in flight", () =>
    Effect.gen(function* () {
      const { fiber, log, queue } = yield* loop(() => Effect.sleep("1 seconds"))
      queue.addAllUnsafe(["a", "b", "c"])
      yield* TestClock.adjust(0)
      yield* queue.shutdown
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(log, ["a Done", "b Done"])
      yield* Reconcile.run(queue, { concurrency: 1, reconcile: () => Effect.void })
    })
  )

  it.effect("a parked key waits without a worker, is ready when resumed, and stays when the loop ends", () =>
    Effect.gen(function* () {
      const resumes = new Map<string, () => void>()
      const { fiber, log, queue } = yield* loop(() => Effect.void, {
        concurrency: 1,
        park: (key, resume) => {
          if (key === "eager") resume()
          if (key === "broken") throw new Error("park")
          if (key === "free" || resumes.has(key)) return false
          resumes.set(key, resume)
          return true
        }
      })
      queue.addAllUnsafe(["a", "b", "free", "eager", "broken"])
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(log, ["free Done", "eager Done", "broken Defect +5"])
      queue.addUnsafe("a")
      assert.strictEqual(queue.stats().processing, 2)
      resumes.get("a")!()
      resumes.get("a")!()
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(log.slice(3), ["a Done"])
      yield* Fiber.interrupt(fiber)
      resumes.get("b")!()
      assert.deepStrictEqual(sizes(queue), { ready: 1, waiting: 1, processing: 0, failing: 1 })
    })
  )

  it.effect("an observer that throws affects no key", () =>
    Effect.gen(function* () {
      let calls = 0
      const { queue } = yield* loop(() => Effect.void, {
        observe: () => {
          calls++
          throw new Error("metrics")
        }
      })
      queue.addAllUnsafe(["a", "b"])
      yield* queue.idle
      assert.strictEqual(calls, 4)
      assert.deepStrictEqual(sizes(queue), empty)
    })
  )

  it.effect("child fibers of a run end with it", () =>
    Effect.gen(function* () {
      let ended = 0
      const child = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended++))
      const { queue } = yield* loop(() => Effect.asVoid(Effect.forkChild(child, { startImmediately: true })))
      queue.addAllUnsafe(["a", "b"])
      yield* queue.idle
      assert.strictEqual(ended, 2)
    })
  )

  it.effect("runs have the services and the clock of the loop", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const { queue } = yield* loop(() => Effect.map(Clock.currentTimeMillis, (now) => void seen.push(now)))
      yield* TestClock.adjust("7 seconds")
      queue.addUnsafe("a")
      yield* queue.idle
      assert.deepStrictEqual(seen, [7000])
    })
  )
})
