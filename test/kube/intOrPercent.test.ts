import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as IntOrPercent from "../../src/kube/intOrPercent.ts"
import { checkProperty, int } from "../support/property.ts"

describe("IntOrPercent", () => {
  checkProperty(
    "a percentage is rounded to the next whole number in the given direction",
    Arbitrary.all({ percent: int(0, 300), total: int(0, 100_000) }),
    ({ percent, total }) => {
      const exact = percent * total
      const up = (IntOrPercent.resolve(`${percent}%`, total, "up") ?? NaN) * 100
      const down = (IntOrPercent.resolve(`${percent}%`, total, "down") ?? NaN) * 100
      return up >= exact && up - exact < 100 && down <= exact && exact - down < 100
    }
  )

  checkProperty(
    "a number is returned unchanged",
    int(-10, 1000),
    (count) => IntOrPercent.resolve(count, 7, "up") === count
  )
})

describe("intOrPercent", () => {
  it("a malformed text is undefined", () => {
    for (const text of ["", "5", "%", "25 %", "2.5%", "x%"]) {
      assert.isUndefined(IntOrPercent.resolve(text, 10, "up"), text)
    }
  })
})
