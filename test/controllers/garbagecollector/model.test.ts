import { assert, describe, it } from "@effect/vitest"
import { seed } from "../../support/runs.ts"
import * as Model from "./model.ts"

describe("the garbage collector under random operation sequences", () => {
  it.prop(
    "deletes exactly the objects without an existing owner",
    { operations: Model.operations },
    ({ operations }) => {
      const wrong = Model.check(operations)
      if (wrong !== undefined) assert.fail(wrong)
    },
    { arbitrary: { runs: 7500, seed } }
  )
})
