import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { runs, seed } from "../../../support/runs.ts"
import { Action, check } from "./replicaModel.ts"

/** Long sequences reach states that short ones do not. */
const property = (minLength: number) =>
  Arbitrary.checkEffect(
    Arbitrary.array(Arbitrary.schema(Action), { minLength, maxLength: 24 }),
    (actions) =>
      Effect.flatMap(check(actions), (wrong) => (wrong === undefined ? Effect.succeed(true) : Effect.fail(wrong))).pipe(
        Effect.provide(TestClock.layer())
      ),
    { size: 24, seed, runs: runs(1000) }
  )

describe("the replica loop under random operation sequences with a lagging cache", () => {
  for (const [what, minLength] of [
    ["sequences of any length", 0],
    ["long sequences", 16]
  ] as const) {
    it.effect(`never creates or deletes a pod on a stale cache, and settles with a correct status: ${what}`, () =>
      Effect.map(property(minLength), (result) => assert.isUndefined(Arbitrary.formatCheckFailure(result)))
    )
  }
})
