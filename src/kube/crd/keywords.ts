/**
 * What a structural schema can contain and no Schema expresses, as a check: alternatives without a discriminator (`oneOf`, `anyOf`, `not`),
 * enumerations of lists or objects, fields whose names every JavaScript object has. The check tests a value as the API server does, patterns
 * in linear time included, and the definition gets the keywords as they are.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { applyDefaults } from "../structural/applyDefaults.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"
import { validate } from "../structural/validate.ts"

/**
 * A check by keywords of a structural schema, which the definition gets as they are: `Issuer.check(Crd.keywords({ oneOf: [{ required: ["acme"] },
 * { required: ["vault"] }] }))`. It tests the values that a Schema decodes, so use it where a value has the same form in an object.
 */
export const keywords = (schema: StructuralSchema): SchemaAST.Filter<unknown> =>
  Schema.makeFilter(
    (value) => {
      const [first] = validate(schema, applyDefaults(schema, value))
      if (first === undefined) return true
      return first.field === "<nil>" || first.field === "" ? first.message : `${first.field}: ${first.message}`
    },
    { structuralKeywords: schema }
  )

/** Any JSON value except null, stored as it is: `x-kubernetes-preserve-unknown-fields` without a type. `Schema.Unknown` allows null too. */
export const AnyValue: Schema.Unknown = Schema.Unknown.check(
  Schema.makeFilter((value) => value !== null, {
    expected: "a value that is not null",
    structuralKeywords: { nullable: false }
  })
)
