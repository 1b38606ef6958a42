/** The freshness check of a new leadership term: one live read for each Job, and only before a write. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { leaderLost } from "../../support/cluster.ts"
import * as Harness from "./harness.ts"

/** Starts a Job, stops the loop, lets pods succeed, starts another loop, and returns the requests of that one. */
const takenOver = (succeeded: number) =>
  Effect.gen(function* () {
    const first = yield* Harness.start
    yield* Harness.apply(Harness.job({ parallelism: 2, completions: 4 }))
    yield* Harness.rounds
    yield* first.stop(leaderLost)
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
      // Forget the requests of the test itself.
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
