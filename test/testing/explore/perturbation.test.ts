/** Names of cases. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { nameOf, InvalidCase, type Kind, kinds, parseCase } from "../../../src/testing/explore/perturbation.ts"
import { checkProperty } from "../../support/property.ts"

const one = Schema.Struct({
  kind: Schema.Literals(Object.keys(kinds) as ReadonlyArray<Kind> as readonly [Kind, ...Array<Kind>]),
  at: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))
})

const cases = Schema.Struct({
  perturbations: Schema.Array(one).check(Schema.isMaxLength(4)),
  until: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 })))
})

describe("the name of a case", () => {
  checkProperty(
    "can be read again",
    Arbitrary.schema(cases),
    (one) => JSON.stringify(parseCase(nameOf(one))) === JSON.stringify(one)
  )

  for (const text of [
    "crash",
    "crash@write",
    "crash@write#0",
    "crash@event#1",
    "burn@write#1",
    "crash@write#1+",
    "crash@write#1~0",
    "crash@write#1~1~2",
    "toString@write#1"
  ]) {
    it(`is refused where it is ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseCase(text), InvalidCase)
    })
  }
})
