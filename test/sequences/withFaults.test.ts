/**
 * Deployments under random operations of users and faults of nodes, requests and controllers: after the last step the cluster converges, then
 * nothing is written, and every kept revision can be rolled back to. At no revision do the controllers ask for too many pods, create too many,
 * or set an owner reference to a foreign owner.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { longRuns } from "../support/runs.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

it.effect(
  "Deployments under faults converge, write nothing more and can be rolled back",
  () =>
    Effect.gen(function* () {
      const result = yield* Suite.check(Arbitrary.schema(Steps.Sequence), Suite.always, { runs: longRuns(100) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    }),
  3_600_000
)
