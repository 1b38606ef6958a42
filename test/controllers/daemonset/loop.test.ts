/**
 * Random operation sequences against the model: nodes are added and deleted, caches lag, processes end between any two
 * writes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../support/runs.ts"
import { check, Script } from "./check.ts"

describe("the DaemonSet controller under random operations", () => {
  it.effect(
    "keeps one pod on each eligible node, and never exceeds maxUnavailable or maxSurge",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          Arbitrary.schema(Script),
          (script) =>
            check(script).pipe(
              Effect.provide(TestClock.layer()),
              Effect.flatMap((firstViolation) =>
                firstViolation === undefined ? Effect.succeed(true) : Effect.fail(firstViolation)
              )
            ),
          { size: 25, seed, runs: runs(400), maxShrinks: 500 }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    120_000
  )
})
