/**
 * Users who change their minds, on machines and networks that do their part: at every revision of the log, and not only in the
 * end, no more pods than allowed, no fewer available than promised, no two generations together under Recreate. Source:
 * controllers.md B, C.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { runs } from "../support/runs.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

it.effect(
  "in calm weather the bounds of every rollout hold for pods at every moment",
  () =>
    Effect.gen(function* () {
      const result = yield* Suite.check(Arbitrary.schema(Steps.Calm), Suite.inCalm, { runs: runs(100) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    }),
  3_600_000
)
