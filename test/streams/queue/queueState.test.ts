import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { runs } from "../../support/runs.ts"
import { agrees, operations, steps } from "./queueModel.ts"

describe("the queue's state machine", () => {
  it.effect("agrees with the reference model over 10,000 random operations and more", () =>
    Effect.gen(function* () {
      steps.count = 0
      const result = yield* Arbitrary.checkEffect(
        operations,
        (program) =>
          Effect.try({
            try: () => {
              agrees(program, true)
              agrees(program, false)
              return true
            },
            catch: (error) => (error instanceof Error ? error.message : String(error))
          }),
        { size: 300, runs: runs(300) }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.isAtLeast(steps.count, 10_000)
    })
  )
})
