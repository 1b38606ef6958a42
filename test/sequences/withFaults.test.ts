/**
 * Whatever users, machines, networks and crashes did to Deployments: when everybody leaves the cluster alone it converges, falls
 * silent, and every kept revision can be gone back to; and at no moment did the loops ask for too much, create too much, or tie
 * anything to an owner that is not its own. Source: controllers.md A, B, C.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { runs } from "../support/runs.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

it.effect(
  "in any weather it converges, stays quiet and can be undone",
  () =>
    Effect.gen(function* () {
      const result = yield* Suite.check(Arbitrary.schema(Steps.Sequence), Suite.always, { runs: runs(100) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    }),
  3_600_000
)
