/** Random operation sequences against the model: users change the spec, caches lag, processes end between any two writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../support/runs.ts"
import { check, Script } from "./check.ts"

const holds = Arbitrary.checkEffect(
  Arbitrary.schema(Script),
  (script) =>
    check(script).pipe(
      Effect.provide(TestClock.layer()),
      Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
    ),
  { size: 25, seed, runs: runs(1000), maxShrinks: 500 }
)

describe("the StatefulSet controller under random operations", () => {
  it.effect(
    "keeps the order of creations, deletions and updates, and makes all replicas available",
    () =>
      Effect.map(holds, (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))),
    120_000
  )
})
