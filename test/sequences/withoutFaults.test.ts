/**
 * Deployments under random operations of users, without faults: at every revision of the log no more pods than maxSurge allows, no fewer
 * available than maxUnavailable allows, no two generations together under Recreate.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { longRuns } from "../support/runs.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

it.effect(
  "the bounds of every rollout hold for pods at every revision",
  () =>
    Effect.gen(function* () {
      const result = yield* Suite.check(Arbitrary.schema(Steps.WithoutFaults), Suite.withoutFaults, {
        runs: longRuns(100)
      })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    }),
  3_600_000
)
