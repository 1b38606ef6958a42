import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import { Durations } from "../../../src/streams/reconcile/counters.ts"

/** The values of all series of one metric, by the labels in which they differ. */
const series = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    Object.fromEntries(
      all
        .filter((one) => one.id === name)
        .map((one) => {
          const { controller: _, name: _name, ...rest } = one.attributes ?? {}
          const state = one.state as { count?: number; value?: number }
          return [Object.values(rest).join(","), state.count ?? state.value]
        })
    )
  )

const one = (name: string) => Effect.map(series(name), (values) => values[""])

const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

/** The series of a queue with the name of its controller. */
const counted = Effect.map(LoopMetrics.of("test"), (metrics) => metrics.queue("test"))

/** A loop over a queue, both with metrics. */
const start = Effect.fnUntraced(function* (
  reconcile: (key: string) => Effect.Effect<Reconcile.Outcome | void, unknown>,
  options: { readonly concurrency?: number; readonly retries?: number } = {}
) {
  const metrics = yield* counted
  const queue = yield* KeyedQueue.make({ metrics, aging: "off" })
  yield* Effect.forkScoped(
    Reconcile.run(queue, { concurrency: 1, timeout: "1 minute", ...options, reconcile, metrics }),
    { startImmediately: true }
  )
  return { queue, metrics }
})

describe("the metrics of a loop", () => {
  it.effect("are all zero before there is a loop", () =>
    fresh(
      Effect.gen(function* () {
        yield* counted
        assert.deepStrictEqual(yield* series("controller_runtime_reconcile_total"), {
          success: 0,
          error: 0,
          requeue: 0,
          requeue_after: 0
        })
        assert.deepStrictEqual(yield* series("workqueue_depth"), { "0": 0, "-100": 0 })
        const names = new Set((yield* Metric.snapshot).map((each) => each.id))
        assert.deepStrictEqual([...names].sort(), [
          "controller_runtime_active_workers",
          "controller_runtime_max_concurrent_reconciles",
          "controller_runtime_reconcile_errors_total",
          "controller_runtime_reconcile_panics_total",
          "controller_runtime_reconcile_time_seconds",
          "controller_runtime_reconcile_timeouts_total",
          "controller_runtime_reconcile_total",
          "controller_runtime_terminal_reconcile_errors_total",
          "workqueue_adds_total",
          "workqueue_depth",
          "workqueue_longest_running_processor_seconds",
          "workqueue_oldest_ready_seconds",
          "workqueue_queue_duration_seconds",
          "workqueue_retries_total",
          "workqueue_unfinished_work_seconds",
          "workqueue_work_duration_seconds"
        ])
      })
    )
  )

  it.effect("have a series for each result", () =>
    fresh(
      Effect.gen(function* () {
        const { queue } = yield* start(
          (key) => {
            switch (key) {
              case "after":
                return Effect.succeed(Reconcile.after("1 hour"))
              case "again":
                return Effect.succeed(queueAgain.splice(0).length > 0 ? Reconcile.after(0) : Reconcile.done)
              case "terminal":
                return Effect.fail(Reconcile.terminal("no"))
              case "dies":
                return Effect.die("oops")
              case "fails":
                return Effect.fail("no")
              case "hangs":
                return Effect.never
              default:
                return Effect.void
            }
          },
          { concurrency: 8, retries: 0 }
        )
        const queueAgain = [1]
        queue.addAllUnsafe(["ok", "after", "again", "terminal", "dies", "fails", "hangs"])
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* series("controller_runtime_reconcile_total"), {
          success: 2,
          error: 4,
          requeue: 1,
          requeue_after: 1
        })
        assert.strictEqual(yield* one("controller_runtime_reconcile_errors_total"), 4)
        assert.strictEqual(yield* one("controller_runtime_terminal_reconcile_errors_total"), 1)
        assert.strictEqual(yield* one("controller_runtime_reconcile_panics_total"), 1)
        assert.strictEqual(yield* one("controller_runtime_reconcile_timeouts_total"), 1)
        assert.strictEqual(yield* one("controller_runtime_reconcile_time_seconds"), 8)
        assert.strictEqual(yield* one("workqueue_work_duration_seconds"), 8)
        assert.strictEqual(yield* one("workqueue_queue_duration_seconds"), 8)
        assert.strictEqual(yield* one("workqueue_adds_total"), 9)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("measure how long keys waited and runs took, and the runs in flight", () =>
    fresh(
      Effect.gen(function* () {
        const { metrics, queue } = yield* start(() => Effect.sleep("10 seconds"))
        queue.addAllUnsafe(["a", "b"])
        yield* Effect.yieldNow
        yield* TestClock.adjust("4 seconds")
        assert.strictEqual(yield* one("controller_runtime_max_concurrent_reconciles"), 1)
        assert.strictEqual(yield* one("controller_runtime_active_workers"), 1)
        assert.strictEqual(yield* one("workqueue_unfinished_work_seconds"), 4)
        assert.strictEqual(yield* one("workqueue_longest_running_processor_seconds"), 4)
        assert.strictEqual(yield* one("workqueue_oldest_ready_seconds"), 4)
        assert.deepStrictEqual(yield* series("workqueue_depth"), { "0": 1, "-100": 0 })
        yield* TestClock.adjust("20 seconds")
        const waits = metrics.waits.state()
        assert.deepStrictEqual([waits.count, waits.sum], [2, 10])
        const work = (yield* Metric.snapshot).find((each) => each.id === "workqueue_work_duration_seconds")
        assert.strictEqual((work?.state as Metric.HistogramState).sum, 20)
        assert.strictEqual(yield* one("controller_runtime_active_workers"), 0)
        assert.strictEqual(yield* one("workqueue_oldest_ready_seconds"), 0)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("report a stall for ready keys that no worker takes, not for keys behind others", () =>
    fresh(
      Effect.gen(function* () {
        const { metrics, queue } = yield* start(() => Effect.sleep("30 seconds"))
        queue.addAllUnsafe(["a", "b", "c", "d"])
        yield* Effect.yieldNow
        yield* TestClock.adjust("80 seconds")
        assert.strictEqual(yield* one("workqueue_oldest_ready_seconds"), 80)
        assert.strictEqual(metrics.stalled(), 20_000)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(metrics.stalled(), 0)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("continue when the loop is built again", () =>
    fresh(
      Effect.gen(function* () {
        for (const total of [1, 2]) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { queue } = yield* start(() => Effect.void)
              queue.addUnsafe("a")
              yield* queue.idle
            })
          )
          assert.strictEqual(yield* one("workqueue_adds_total"), total)
          assert.strictEqual((yield* series("controller_runtime_reconcile_total"))["success"], total)
          assert.strictEqual(yield* one("controller_runtime_max_concurrent_reconciles"), 0)
        }
      })
    )
  )

  it.effect("have a series for each of 25 priorities, and one for all others", () =>
    fresh(
      Effect.gen(function* () {
        const queue = yield* KeyedQueue.make({ metrics: yield* counted })
        for (let priority = 1; priority <= 40; priority++) queue.addUnsafe(`key-${priority}`, priority)
        const depth = yield* series("workqueue_depth")
        assert.strictEqual(Object.keys(depth).length, 26)
        assert.strictEqual(depth["23"], 1)
        assert.strictEqual(depth["exceeded_cardinality_limit"], 17)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("have the labels and buckets of client-go if so configured, with one series for each queue", () =>
    fresh(
      Effect.gen(function* () {
        const loop = yield* LoopMetrics.of("collector")
        const queues = yield* Effect.forEach(["to_delete", "to_orphan"], (name) =>
          Effect.map(KeyedQueue.make({ metrics: loop.queue(name) }), (queue) => [name, queue] as const)
        )
        for (const [name, queue] of queues) {
          queue.addUnsafe("a", name === "to_delete" ? 3 : 0)
          queue.addUnsafe("b", KeyedQueue.LOW)
          queue.addWithUnsafe("c", { after: "1 hour" })
          if (name === "to_orphan") queue.takeUnsafe()
        }
        const all = (yield* Metric.snapshot).filter((one) => one.id.startsWith("workqueue_"))
        const valuesOf = (id: string) =>
          all
            .filter((one) => one.id === id)
            .map(({ attributes, state }) => [attributes, (state as { readonly value: number }).value])
        assert.deepStrictEqual(valuesOf("workqueue_depth"), [
          [{ name: "to_delete" }, 2],
          [{ name: "to_orphan" }, 1]
        ])
        for (const { attributes } of all) assert.deepStrictEqual(Object.keys(attributes ?? {}), ["name"])
        const buckets = all.flatMap(({ state }) => ("buckets" in state ? [state.buckets.map(([bound]) => bound)] : []))
        const bounds = [1e-8]
        while (bounds.length < 10) bounds.push((bounds.at(-1) ?? 0) * 10)
        assert.deepStrictEqual(buckets, [bounds, bounds, bounds, bounds])
      }).pipe(Effect.scoped, Effect.provideService(LoopMetrics.Labelling, "client-go"))
    )
  )

  it.effect("add up the runs of all queues of a controller, and those without a key", () =>
    fresh(
      Effect.gen(function* () {
        const loop = yield* LoopMetrics.of("collector")
        loop.queue("to_delete").ended(20)
        loop.queue("to_orphan").ended(3000)
        loop.ended(1)
        const work = yield* Effect.map(Metric.snapshot, (all) =>
          all.filter((one) => /^(workqueue_work|controller_runtime_reconcile_time_seconds)/.test(one.id))
        )
        assert.deepStrictEqual(
          work.map(({ attributes, state }) => {
            const { count, sum } = state as Metric.HistogramState
            return [attributes, count, sum]
          }),
          [
            [{ controller: "collector" }, 3, 3.021],
            [{ controller: "collector", name: "to_delete" }, 1, 0.02],
            [{ controller: "collector", name: "to_orphan" }, 1, 3]
          ]
        )
        assert.strictEqual(loop.runs(), 3)
      })
    )
  )

  it.effect("measure from when a key became ready, after a delay, a raised priority and a drain", () =>
    fresh(
      Effect.gen(function* () {
        const metrics = yield* counted
        const queue = yield* KeyedQueue.make({ metrics })
        queue.addWithUnsafe("later", { after: "10 seconds" })
        queue.addUnsafe("raised", KeyedQueue.LOW)
        yield* TestClock.adjust("15 seconds")
        queue.addUnsafe("raised", 5)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(queue.takeUnsafe(), "raised")
        assert.strictEqual(metrics.waits.state().sum, 16)
        assert.strictEqual(queue.takeUnsafe(), "later")
        assert.strictEqual(metrics.waits.state().sum, 22)
        queue.releaseUnsafe("later")
        yield* TestClock.adjust("3 seconds")
        queue.takeUnsafe()
        assert.strictEqual(metrics.waits.state().sum, 25)
        const stop = yield* Effect.forkChild(queue.shutdownWithDrain)
        queue.doneUnsafe("raised")
        queue.doneUnsafe("later")
        yield* Fiber.join(stop)
      }).pipe(Effect.scoped)
    )
  )

  it.prop(
    "count durations like Effect's histogram, with the minimum and maximum of their buckets",
    { values: Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 })))) },
    ({ values }) => {
      const bounds = [0.01, 1, 2.5, 10]
      const ours = new Durations(bounds)
      for (const value of values) ours.observe(value)
      const effects = Metric.histogram("h", { boundaries: bounds })
      const theirs = Effect.runSync(
        fresh(
          Effect.andThen(
            Effect.forEach(values, (value) => Metric.update(effects, value / 1000), { discard: true }),
            Metric.value(effects)
          )
        )
      )
      const { max, min, sum, ...counts } = ours.state()
      const { max: longest, min: shortest, sum: total, ...expected } = theirs
      assert.deepStrictEqual(counts, expected)
      assert.closeTo(sum, total, 1e-6)
      if (values.length > 0) assert.isTrue(min <= shortest && longest <= max)
      assert.deepStrictEqual(
        ours.state([1, 10]).buckets,
        theirs.buckets.filter(([bound]) => bound === 1 || bound === 10)
      )
    }
  )
})
