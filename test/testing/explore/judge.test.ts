/** What is no sign of a mistake. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { judge, referenceOf } from "../../../src/testing/explore/judge.ts"
import { parseCase } from "../../../src/testing/explore/perturbation.ts"
import { run } from "../../../src/testing/explore/run.ts"
import { bug as conflictSwallowed } from "../../explore/bugs/conflictSwallowed.ts"

describe("judge", () => {
  it.live("accepts the retries of a controller whose cache lags twice", () =>
    Effect.gen(function* () {
      const exploration = conflictSwallowed.explore(true)
      const reference = referenceOf(yield* run(exploration, parseCase(""), { seed: 1 }), undefined)
      const perturbed = parseCase("touch@write#1+gap@event#2+travel-1@write#14")
      const outcome = yield* run(exploration, perturbed, { seed: 1 })
      assert.lengthOf(
        outcome.entries.filter((entry) => entry.perturbed !== undefined),
        3
      )
      assert.deepEqual(judge(outcome, reference, { comparable: undefined, hasOwnCheck: false }), [])
    })
  )
})
