/**
 * Random operation sequences against the model: lagging caches, and processes that end between any two writes. No time
 * is run twice.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Runs from "../../../src/controllers/cronjob/runs.ts"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { check } from "./model/check.ts"
import { Action, Setup } from "./model/script.ts"
import { Model } from "./model/Model.ts"

const scripts = Arbitrary.schema(Schema.Struct({ setup: Setup, actions: Schema.Array(Action) }))

describe("the CronJob controller under random operations", () => {
  checkSequences(
    "runs no time twice, respects the concurrency policy, and ends with a correct status",
    scripts,
    (script) => Effect.map(check(script), (violation) => (violation === undefined ? [] : [violation])),
    { size: 40, seed, runs: runs(600), maxShrinks: 500 }
  )

  it.effect("runs each time of four weeks once", () =>
    Effect.gen(function* () {
      const model = new Model({ policy: "Forbid", succeededKept: 2, failedKept: 1, deadline: 0 }, 0)
      yield* model.start(0, 0)
      model.changeSpec({ schedule: "*/15 * * * 1-5", timeZone: "Europe/Berlin" })
      const weeks = 4 * 7 * 86_400_000
      while (model.now < weeks) {
        yield* model.rest()
        while (model.unfinished().length > 0) model.finish(0, model.created.size % 5 === 0 ? "Failed" : "Complete")
        yield* model.rest()
        yield* model.wait(Math.max(1, (model.due ?? weeks) - model.now))
      }
      assert.isUndefined(model.firstViolation)
      // Twenty working days of ninety-six times, except the last; 1970 began on a Thursday at one o'clock in Berlin.
      assert.strictEqual(model.created.size, 20 * 96 - 1)
      assert.deepStrictEqual(Runs.activeOf(Runs.statusOf(model.cronJob)), [])
      assert.lengthOf([...model.jobs], 3)
    }).pipe(Effect.provide(TestClock.layer()))
  )
})
