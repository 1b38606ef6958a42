import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import { runs } from "../../support/runs.ts"

const limit = 50

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Plan = Schema.Struct({
  concurrency: Schema.Literals([16, 1, 3]),
  steps: Schema.Array(
    Schema.Struct({
      do: Schema.Literals(["add", "add", "addLow", "wait", "kill", "turn"]),
      n: int(0, 9),
      millis: int(0, 40)
    })
  ),
  /** What each run does, by key and attempt. */
  behaviours: Schema.NonEmptyArray(
    Schema.Literals(["done", "yield", "sleep", "fail", "die", "throw", "after", "interrupt", "hang", "terminal"])
  )
})
type Plan = typeof Plan.Type
type Behaviour = Plan["behaviours"][number]

const act = (behaviour: Behaviour): Effect.Effect<Reconcile.Outcome | void, unknown> => {
  switch (behaviour) {
    case "done":
      return Effect.succeed(Reconcile.done)
    case "yield":
      return Effect.yieldNow
    case "sleep":
      return Effect.sleep(3)
    case "fail":
      return Effect.fail("no")
    case "die":
      return Effect.die("defect")
    case "throw":
      throw new Error("thrown")
    case "after":
      return Effect.succeed(Reconcile.after(4))
    case "interrupt":
      return Effect.interrupt
    case "hang":
      return Effect.never
    case "terminal":
      return Effect.fail(Reconcile.terminal("gone"))
  }
}

/** Checks what must hold for every run and every event; throws otherwise. */
const watcher = (plan: Plan) => {
  const running = new Map<string, Fiber.Fiber<unknown, unknown>>()
  const attempts = new Map<string, number>()
  const inRow = new Map<string, number>()
  const lastAdd = new Map<string, number>()
  const lastStart = new Map<string, number>()
  const wrong: Array<string> = []
  let sequence = 0
  const begin = (key: string): Behaviour => {
    lastStart.set(key, ++sequence)
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    // Every key succeeds in the end, so that the queue must become empty.
    return attempt > 8 ? "done" : plan.behaviours[(Number(key.slice(1)) * 3 + attempt) % plan.behaviours.length]!
  }
  const reconcile = (key: string): Effect.Effect<Reconcile.Outcome | void, unknown> =>
    Effect.withFiber((fiber) => {
      if (running.has(key)) wrong.push(`${key} runs twice at once`)
      running.set(key, fiber)
      if (running.size > plan.concurrency) wrong.push("more runs than workers")
      return Effect.ensuring(
        Effect.suspend(() => act(begin(key))),
        Effect.sync(() => running.delete(key))
      )
    })
  const observe = (event: Reconcile.RunEvent<string, unknown>): void => {
    if (event._tag === "Started") return
    if (event._tag === "GaveUp") return void wrong.push(`gave up ${event.key} although it may be tried for ever`)
    if (event.elapsed > limit) wrong.push(`${event.key} ran for ${event.elapsed}`)
    if (event._tag === "Timeout" && event.elapsed !== limit) wrong.push(`timed out after ${event.elapsed}`)
    const failed = "attempt" in event
    const count = failed ? (inRow.get(event.key) ?? 0) + 1 : 0
    inRow.set(event.key, count)
    if (!failed) return
    if (event.attempt !== count) wrong.push(`failure ${count} of ${event.key} counted as ${event.attempt}`)
    if (event.delay !== 5 * 2 ** (count - 1)) wrong.push(`failure ${count} waits ${event.delay}`)
  }
  const added = (key: string): void => void lastAdd.set(key, ++sequence)
  const missed = (): Array<string> =>
    [...lastAdd].filter(([key, at]) => (lastStart.get(key) ?? 0) < at).map(([key]) => `${key} was added and never ran`)
  return { running, reconcile, observe, added, missed, wrong }
}

/** Random adds, waits and interruptions: no overlap, no lost wake-up, counted failures, and an empty queue in the end. */
const property = (plan: Plan) =>
  Effect.gen(function* () {
    const queue = yield* KeyedQueue.make()
    const { added, missed, observe, reconcile, running, wrong } = watcher(plan)
    const { concurrency } = plan
    yield* Effect.forkScoped(Reconcile.run(queue, { concurrency, reconcile, observe, timeout: limit }), {
      startImmediately: true
    })
    for (const step of plan.steps) {
      const key = `k${step.n}`
      if (step.do === "add" || step.do === "addLow") {
        added(key)
        queue.addUnsafe(key, step.do === "add" ? 0 : KeyedQueue.LOW)
      }
      if (step.do === "wait") yield* TestClock.adjust(step.millis)
      if (step.do === "turn") yield* Effect.yieldNow
      if (step.do === "kill") running.get(key)?.interruptUnsafe()
    }
    // Far longer than all backoffs and hung runs together.
    for (let i = 0; i < 10; i++) yield* TestClock.adjust("10 seconds")
    const { failing, processing, ready, waiting } = queue.stats()
    assert.deepStrictEqual([...wrong, ...missed()], [])
    assert.deepStrictEqual({ failing, processing, ready, waiting }, { failing: 0, processing: 0, ready: 0, waiting: 0 })
    return true
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

describe("the reconcile loop", () => {
  it.effect("never runs a key twice at once, loses no add, counts every failure, and ends with an empty queue", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Plan),
        (plan) => Effect.catchDefect(property(plan), (defect) => Effect.fail(defect)),
        { size: 60, runs: runs(200) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )
})
