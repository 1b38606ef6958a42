/** Model-based test of the Job loop: random operation sequences with events in any order and crashes between any two writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../support/runs.ts"
import { check } from "./model/check.ts"
import { Action, Setup } from "./model/script.ts"

const scripts = Arbitrary.schema(Schema.Struct({ setup: Setup, actions: Schema.Array(Action) }))

describe("the Job loop under random operation sequences", () => {
  it.effect(
    "counts each pod once, never exceeds parallelism, and ends once",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          scripts,
          (script) =>
            check(script).pipe(
              Effect.provide(TestClock.layer()),
              Effect.flatMap((wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong)))
            ),
          { size: 25, seed, runs: runs(400), maxShrinks: 500 }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    120_000
  )
})
