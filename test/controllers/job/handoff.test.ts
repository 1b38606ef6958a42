/** What a term does first with the Jobs of another: it asks, once each, and only if there is something to do. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import * as Harness from "./harness.ts"

const lost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

/** A Job that is under way, and a loop that has just taken over after so many pods have succeeded. */
const takenOver = (succeeded: number) =>
  Effect.gen(function* () {
    const first = yield* Harness.start
    yield* Harness.apply(Harness.job({ parallelism: 2, completions: 4 }))
    yield* Harness.rounds
    yield* first.stop(lost)
    yield* Harness.endSome(succeeded, 0)
    const calls = yield* Harness.recording()
    yield* Harness.start
    yield* Harness.rounds
    return calls
  })

const reads = (calls: ReadonlyArray<Parameters<typeof Harness.line>[0]>) =>
  calls.map(Harness.line).filter((line) => line === "get jobs.batch" || line === "list pods")

describe("a new term", () => {
  it.effect("makes no live read for a Job without changes", () =>
    Effect.gen(function* () {
      const calls = yield* takenOver(0)
      assert.deepStrictEqual(calls.map(Harness.line), [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("makes one live read before it counts, and not again", () =>
    Effect.gen(function* () {
      const calls = yield* takenOver(1)
      assert.deepStrictEqual(reads(calls), ["get jobs.batch", "list pods"])
      assert.deepInclude(yield* Harness.statusOf(), { succeeded: 1, active: 2 })
      yield* Harness.endSome(2, 0)
      // What the test has asked does not count.
      calls.length = 0
      yield* Harness.rounds
      assert.deepStrictEqual(reads(calls), [])
      assert.deepInclude(yield* Harness.statusOf(), { succeeded: 3, active: 1 })
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("makes no live read for a Job whose creation it observed", () =>
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.apply(Harness.job())
      yield* Harness.endSome(1, 0)
      const calls = yield* Harness.recording()
      yield* Harness.rounds
      assert.deepStrictEqual(reads(calls), [])
      assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})
