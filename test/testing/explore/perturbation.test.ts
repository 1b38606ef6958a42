/** Names of perturbations. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { idOfAll, InvalidPerturbation, type Kind, kinds, parseAll } from "../../../src/testing/explore/perturbation.ts"
import { checkProperty } from "../../support/property.ts"

const one = Schema.Struct({
  kind: Schema.Literals(Object.keys(kinds) as ReadonlyArray<Kind> as readonly [Kind, ...Array<Kind>]),
  at: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))
})

describe("the name of perturbations", () => {
  checkProperty(
    "can be read again",
    Arbitrary.schema(Schema.Array(one).check(Schema.isMaxLength(4))),
    (perturbations) => JSON.stringify(parseAll(idOfAll(perturbations))) === JSON.stringify(perturbations)
  )

  for (const text of [
    "crash",
    "crash@write",
    "crash@write#0",
    "crash@event#1",
    "burn@write#1",
    "crash@write#1+",
    "toString@write#1"
  ]) {
    it(`is refused where it is ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseAll(text), InvalidPerturbation)
    })
  }
})
