import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as IntOrPercent from "../../src/kube/intOrPercent.ts"
import { int, law, prove } from "../support/laws.ts"

prove<typeof IntOrPercent>({
  path: "kube/intOrPercent.ts",
  module: IntOrPercent,
  laws: [
    law(
      "a share is rounded to the next whole, in the direction asked for",
      Arbitrary.all({ percent: int(0, 300), total: int(0, 100_000) }),
      ({ resolve }, { percent, total }) => {
        const exact = percent * total
        const up = (resolve(`${percent}%`, total, "up") ?? NaN) * 100
        const down = (resolve(`${percent}%`, total, "down") ?? NaN) * 100
        return up >= exact && up - exact < 100 && down <= exact && exact - down < 100
      }
    ),
    law("a count is itself", int(-10, 1000), ({ resolve }, count) => resolve(count, 7, "up") === count)
  ],
  mutants: [
    { title: "up is down", find: `round === "up"`, replace: `round !== "up"` },
    { title: "to the nearest", find: "Math.ceil(share)", replace: "Math.round(share)" },
    { title: "of ten", find: "/ 100", replace: "/ 10" },
    { title: "a count is a share", find: "return value", replace: "return (value * total) / 100" }
  ]
})

describe("intOrPercent", () => {
  it("does not guess", () => {
    for (const text of ["", "5", "%", "25 %", "2.5%", "x%"]) {
      assert.isUndefined(IntOrPercent.resolve(text, 10, "up"), text)
    }
  })
})
