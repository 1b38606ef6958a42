/** Every bug of the corpus is found by its perturbation, and its repaired twin fails in no run. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { bug as generatedNameLeaked } from "./bugs/generatedNameLeaked.ts"

const bugs = [generatedNameLeaked]

describe("explore", () => {
  for (const { explore, title, write } of bugs) {
    it.live(`finds: ${title}`, () =>
      Effect.gen(function* () {
        const { failures, problem } = yield* explore(false).run()
        assert.isUndefined(problem)
        assert.isAbove(failures.length, 0, "nothing was found")
        const named = failures.flatMap(({ where, writes }) => where.concat(writes))
        assert.isTrue(
          named.some((one) => one.includes(write)),
          `${write} is not among:\n${named.join("\n")}`
        )
      })
    )
    it.live(`finds nothing once it is repaired: ${title}`, () => explore(true).check())
  }
})
