/** Random operation sequences on EcsBindings: each is annotated, once for each time that the annotation was missing. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../support/runs.ts"
import { Operations, run } from "./randomOperations.ts"

describe("EcsBinding controller, random operation sequences", () => {
  it.effect(
    "annotates each object once for each time that the annotation is missing, and then writes nothing",
    () =>
      Effect.gen(function* () {
        const result = yield* Arbitrary.checkEffect(
          Arbitrary.schema(Operations),
          (history) =>
            run(history).pipe(
              Effect.provide(TestClock.layer()),
              Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
            ),
          { size: 8, maxShrinks: 40, seed, runs: runs(10) }
        )
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      }),
    600_000
  )
})
