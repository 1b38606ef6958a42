import { assert, describe, it } from "@effect/vitest"
import * as Size from "../../../../src/layers/cache/Registry.ts"

describe("how big objects are", () => {
  it("is the length of their JSON for few objects", () => {
    const few = Array.from({ length: Size.sample }, (_, n) => ({ name: "x".repeat(n) }))
    assert.strictEqual(
      Size.estimate(few),
      few.reduce((sum, one) => sum + JSON.stringify(one).length, 0)
    )
    assert.strictEqual(Size.estimate([]), 0)
  })

  it("is close to it for many objects, of which few are measured", () => {
    let measured = 0
    const many = Array.from({ length: 10_007 }, (_, n) => ({
      toJSON: () => {
        measured++
        return "x".repeat(n % 100)
      }
    }))
    const real = many.reduce((sum, _, n) => sum + (n % 100) + 2, 0)
    assert.closeTo(Size.estimate(many) / real, 1, 0.15)
    assert.isAtMost(measured, Size.sample + 1)
  })

  it("leaves out objects that cannot be written as JSON", () => {
    // As objects are that are nested deeper than the stack of Node before 26 allows.
    const unwritable = {
      toJSON: () => {
        throw new RangeError("Maximum call stack size exceeded")
      }
    }
    assert.strictEqual(Size.estimate([unwritable, "ab"]), 4)
  })
})
