import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { type Cause, list, mostCauses } from "../../../src/streams/reconcile/cause.ts"
import * as QueueState from "../../../src/streams/queue/queueState.ts"
import { runs } from "../../support/runs.ts"
import { agrees, operations, steps } from "./queueModel.ts"

describe("the queue's state machine", () => {
  it.effect("agrees with the reference model over 10,000 random operations and more", () =>
    Effect.gen(function* () {
      steps.count = 0
      const result = yield* Arbitrary.checkEffect(
        operations,
        (program) =>
          Effect.try({
            try: () => {
              agrees(program, true)
              agrees(program, false)
              return true
            },
            catch: (error) => (error instanceof Error ? error.message : String(error))
          }),
        { size: 300, runs: runs(300) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.isAtLeast(steps.count, 10_000)
    })
  )
})

/** A queue whose clock is a number, and a record of its callbacks. */
const fixture = (isMeasured: boolean) => {
  const clock = { now: 0, readings: 0 }
  const observed: Array<number> = []
  const calls: Array<string> = []
  const state = new QueueState.QueueState<string>({
    now: () => {
      clock.readings++
      return clock.now
    },
    backoff: (failures) => 100 * 2 ** failures,
    aging: undefined,
    metrics: isMeasured
      ? ({ waits: { observe: (value: number) => void observed.push(value) }, sawPriority: () => undefined } as never)
      : undefined,
    onReady: () => void calls.push("ready"),
    onDelay: (due) => void calls.push(`delay ${due}`),
    onQuiet: () => void calls.push("quiet")
  })
  return { calls, clock, observed, state }
}

describe("QueueState", () => {
  it("counts a key once until it is taken, adds with a delay, and keys with failures", () => {
    const { state } = fixture(false)
    state.add("a", 0, 0)
    state.add("a", 5, 0)
    state.add("b", 0, 10)
    assert.deepInclude(state.stats(), { adds: 2, retries: 1, failing: 0 })
    assert.strictEqual(state.take(), "a")
    state.add("a", 0, 0)
    state.add("a", 0, 0)
    assert.deepInclude(state.stats(), { adds: 3, retries: 1 })
    assert.strictEqual(state.retry("c", 0, Infinity), 100)
    assert.strictEqual(state.retry("c", 0, 50), 50)
    assert.deepInclude(state.stats(), { adds: 4, retries: 3, failing: 1 })
    state.forget("c")
    assert.deepInclude(state.stats(), { failing: 0 })
  })

  it("treats a priority that is NaN as 0", () => {
    const { state } = fixture(false)
    state.add("a", Number.NaN, 0)
    assert.strictEqual(state.priority("a"), 0)
  })

  it("shows the keys that come next and those that are due next, at most as many as asked for", () => {
    const { clock, state } = fixture(true)
    for (const key of ["a", "b", "c"]) state.add(key, 0, 0)
    state.add("d", -1, 100)
    state.retry("e", 0, 300, { _tag: "Retry", attempt: 1, after: "409 Conflict", span: undefined })
    clock.now = 40
    assert.deepStrictEqual(state.head(2), {
      next: [
        { key: "a", priority: 0, readyFor: 40 },
        { key: "b", priority: 0, readyFor: 40 }
      ],
      delayed: [
        { key: "d", dueIn: 60, failures: 0 },
        { key: "e", dueIn: 60, failures: 1, after: "409 Conflict" }
      ]
    })
    assert.deepStrictEqual([...state.levels()], [[0, 3]])
    const unmeasured = fixture(false)
    unmeasured.state.add("a", 0, 0)
    unmeasured.clock.now = 40
    assert.deepStrictEqual(unmeasured.state.head(1).next, [{ key: "a", priority: 0, readyFor: 0 }])
  })

  it("measures how long keys were ready, and for how long none was handed out", () => {
    const { clock, observed, state } = fixture(true)
    assert.deepStrictEqual([state.waited(), state.stalled()], [0, 0])
    clock.now = 1000
    state.addAll(["a", "b"], 0)
    clock.now = 1500
    assert.deepStrictEqual([state.waited(), state.stalled()], [500, 500])
    assert.strictEqual(state.take(), "a")
    clock.now = 1600
    assert.deepStrictEqual([state.waited(), state.stalled()], [600, 100])
    assert.strictEqual(state.take(1550), "b")
    assert.deepStrictEqual(observed, [500, 550])
    state.add("c", 0, 0)
    assert.deepStrictEqual([state.waited(), state.stalled()], [0, 0])
  })

  it("reads the clock once for many keys, and never without metrics", () => {
    for (const isMeasured of [true, false]) {
      const { clock, state } = fixture(isMeasured)
      state.addAll(["a", "b", "c"], 0)
      assert.strictEqual(clock.readings, isMeasured ? 1 : 0)
    }
  })

  it("keeps why a key was added until that is claimed, in every phase of the key", () => {
    const { state } = fixture(false)
    const cause = (delay: number): Cause => ({ _tag: "Requeue", delay, span: undefined })
    state.add("a", 0, 10, cause(1))
    state.add("a", 0, 0, cause(2))
    state.add("a", 0, 0)
    assert.strictEqual(state.take(), "a")
    assert.deepStrictEqual(list(state.claim("a")), [cause(1), cause(2)])
    assert.isUndefined(state.claim("a"))
    state.add("a", 0, 0, cause(3))
    state.release("a", cause(4))
    assert.strictEqual(state.take(), "a")
    assert.deepStrictEqual(list(state.claim("a")), [cause(3), cause(4)])
    state.done("a")
    state.retry("a", 0, 0, cause(5))
    assert.deepStrictEqual(list(state.claim("a")), [cause(5)])
  })

  it("keeps one cause of each key, and of all keys together only so many others, because a cause holds objects", () => {
    const { state } = fixture(false)
    const cause: Cause = { _tag: "Stopped", span: undefined }
    const keys = Array.from({ length: 1000 }, (_, n) => `key-${n}`)
    for (let n = 0; n < mostCauses; n++) state.addAll(keys, 0, cause)
    const claimed = () => keys.map((key) => state.claim(key))
    const all = claimed()
    const kept = all.reduce((sum, causes) => sum + list(causes).length, 0)
    assert.isAtMost(kept, keys.length + QueueState.mostOthers)
    assert.isTrue(all.every((causes) => list(causes).length + (causes?.more ?? 0) === mostCauses))
    // Claimed causes make room for new ones.
    for (let n = 0; n < 2; n++) state.addAll(keys, 0, cause)
    assert.isTrue(claimed().every((causes) => list(causes).length === 2))
  })

  it("counts the causes of a key beyond the sixteenth", () => {
    const { state } = fixture(false)
    const cause: Cause = { _tag: "Stopped", span: undefined }
    for (let n = 0; n < mostCauses + 3; n++) state.add("a", 0, 0, cause)
    const causes = state.claim("a")
    assert.deepStrictEqual([list(causes).length, causes?.more], [mostCauses, 3])
  })

  it("calls onDelay for the key that is due first, and for no other", () => {
    const { calls, state } = fixture(false)
    state.add("a", 0, 10)
    state.add("b", 0, 20)
    state.add("b", 0, 30)
    state.add("c", 0, 5)
    state.add("b", 0, 1)
    assert.deepStrictEqual(calls, ["delay 10", "delay 5", "delay 1"])
    assert.strictEqual(state.nextDue(), 1)
  })

  it("makes at most as many due keys ready as asked for, in the order of their due times", () => {
    const { clock, state } = fixture(false)
    for (const [key, delay] of [
      ["a", 3],
      ["b", 1],
      ["c", 2]
    ] as const)
      state.add(key, 0, delay)
    clock.now = 2
    state.releaseDue(1)
    assert.deepInclude(state.stats(), { ready: 1, waiting: 2 })
    state.releaseDue(9)
    assert.deepInclude(state.stats(), { ready: 2, waiting: 1 })
    assert.deepStrictEqual([state.take(), state.take(), state.take()], ["b", "c", undefined])
  })

  it("a drain hands out ready keys, calls onQuiet when nothing is left, and ignores adds", () => {
    const { calls, state } = fixture(false)
    state.add("a", 0, 0)
    state.add("b", 0, 50)
    state.take()
    calls.length = 0
    state.shutdown(true)
    state.shutdown(true)
    assert.deepStrictEqual(calls, ["ready"])
    assert.isFalse(state.add("c", 0, 0))
    assert.isUndefined(state.retry("c", 0, 0))
    state.release("a")
    assert.isFalse(state.ended)
    assert.strictEqual(state.take(), "a")
    calls.length = 0
    state.done("a")
    assert.deepStrictEqual(calls, ["quiet", "ready"])
    assert.isTrue(state.ended)
    assert.deepInclude(state.stats(), { ready: 0, waiting: 0, processing: 0 })
  })

  it("a stop drops ready keys, and calls onQuiet only if nothing is in flight", () => {
    const { calls, state } = fixture(false)
    state.add("a", 0, 0)
    calls.length = 0
    state.shutdown(false)
    assert.deepStrictEqual(calls, ["ready", "quiet"])
    assert.isUndefined(state.take())
    const busy = fixture(false)
    busy.state.add("a", 0, 0)
    busy.state.take()
    busy.calls.length = 0
    busy.state.shutdown(false)
    assert.deepStrictEqual(busy.calls, ["ready"])
    busy.state.done("a")
    assert.deepStrictEqual(busy.calls, ["ready", "quiet"])
  })

  it("measures from the time at which a key became ready, and reads no clock for one key without metrics", () => {
    const { clock, state } = fixture(true)
    clock.now = 100
    state.add("a", 0, 0)
    clock.now = 140
    assert.deepStrictEqual(state.head(1).next, [{ key: "a", priority: 0, readyFor: 40 }])
    const unmeasured = fixture(false)
    unmeasured.state.add("a", 0, 0)
    unmeasured.state.take()
    assert.strictEqual(unmeasured.clock.readings, 0)
  })

  it("calls onQuiet when a key is done only if none is ready or in flight", () => {
    const { calls, state } = fixture(false)
    for (const key of ["a", "b", "c"]) state.add(key, 0, 0)
    for (const key of ["a", "b"]) assert.strictEqual(state.take(), key)
    calls.length = 0
    state.done("a")
    state.done("b")
    assert.deepStrictEqual(calls, [])
    assert.strictEqual(state.take(), "c")
    state.add("d", 0, 0)
    assert.strictEqual(state.take(), "d")
    calls.length = 0
    state.done("c")
    assert.deepStrictEqual(calls, [])
    state.done("d")
    assert.deepStrictEqual(calls, ["quiet"])
  })

  it("does not call onQuiet on a drain while a key is ready", () => {
    const { calls, state } = fixture(false)
    state.add("a", 0, 0)
    calls.length = 0
    state.shutdown(true)
    assert.deepStrictEqual(calls, ["ready"])
  })

  it("releases and finishes only keys in flight", () => {
    const { state } = fixture(false)
    state.add("a", 0, 0)
    for (const key of ["a", "unknown"]) {
      state.release(key)
      state.done(key)
    }
    assert.deepInclude(state.stats(), { ready: 1, processing: 0, adds: 1 })
    assert.deepStrictEqual([state.take(), state.take()], ["a", undefined])
  })

  it("keeps the earliest due time of the adds while a key is in flight, and makes the key ready at that time", () => {
    const { clock, state } = fixture(false)
    state.add("a", 0, 0)
    state.take()
    state.add("a", 0, 10)
    state.add("a", 0, 50)
    clock.now = 9
    state.done("a")
    assert.strictEqual(state.nextDue(), 10)
    clock.now = 10
    state.releaseDue(1)
    state.take()
    state.add("a", 0, 5)
    clock.now = 15
    state.done("a")
    assert.isTrue(state.hasReady)
  })

  it("calls onDelay once for two adds with the same due time", () => {
    const { calls, state } = fixture(false)
    state.add("a", 0, 10)
    state.add("a", 0, 10)
    assert.deepStrictEqual(calls, ["delay 10"])
  })

  it("a drain drops a delayed add of a key in flight, and keeps one that is due", () => {
    const { state } = fixture(false)
    for (const key of ["a", "b"]) {
      state.add(key, 0, 0)
      state.take()
    }
    state.add("a", 0, 10)
    state.add("b", 0, 0)
    state.shutdown(true)
    for (const key of ["a", "b"]) state.done(key)
    assert.deepInclude(state.stats(), { ready: 1, waiting: 0 })
    assert.deepStrictEqual([state.take(), state.take()], ["b", undefined])
  })
})
