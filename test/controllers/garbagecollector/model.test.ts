import { assert, describe, it } from "@effect/vitest"
import { seed } from "../../support/runs.ts"
import * as World from "./model.ts"

describe("the garbage collector under random operation sequences", () => {
  it.prop(
    "collects what nobody owns, and nothing else",
    { operations: World.operations },
    ({ operations }) => {
      const wrong = World.check(operations)
      if (wrong !== undefined) assert.fail(wrong)
    },
    { arbitrary: { runs: 7500, seed } }
  )
})
