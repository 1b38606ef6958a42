/** Random operation sequences on Memcacheds: in the end all is as it should be. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../support/runs.ts"
import { History, play } from "./operations.ts"

describe("Memcached operator, random operation sequences", () => {
  it.effect(
    "converges, leaves no orphan, finalizes once, and then writes nothing",
    () =>
      Effect.gen(function* () {
        const result = yield* Arbitrary.checkEffect(
          Arbitrary.schema(History),
          (history) =>
            play(history).pipe(
              Effect.provide(TestClock.layer()),
              Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
            ),
          { size: 8, maxShrinks: 40, seed, runs: runs(12) }
        )
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      }),
    600_000
  )
})
