/** Checks by keywords of a structural schema: what they test, and what the definition gets. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import { structural } from "../../../src/kube/crd/structural.ts"

const Issuer = Schema.Struct({ acme: Schema.optionalKey(Schema.String), vault: Schema.optionalKey(Schema.String) })

const schemaOf = (schema: Schema.Constraint) =>
  Result.getOrThrow(structural(Schema.Struct({ a: schema }))).properties?.["a"]

describe("Crd.keywords", () => {
  it("tests a value as the API server does", () => {
    const one = Issuer.check(Crd.keywords({ oneOf: [{ required: ["acme"] }, { required: ["vault"] }] }))
    const isValid = (value: unknown) => Result.isSuccess(Schema.decodeUnknownResult(one)(value))
    assert.isTrue(isValid({ acme: "x" }))
    assert.isFalse(isValid({}))
    assert.isFalse(isValid({ acme: "x", vault: "y" }))
    assert.deepStrictEqual(schemaOf(one)?.oneOf, [{ required: ["acme"] }, { required: ["vault"] }])
  })

  it("adds to the schema, and what a schema can have once only goes to allOf", () => {
    const twice = Schema.Literals(["a", "b"]).check(
      Crd.keywords({ enum: ["b", "c"], not: { maxLength: 0 } }),
      Crd.keywords({ not: { maxLength: 9 }, allOf: [{ minLength: 1 }] })
    )
    assert.deepStrictEqual(schemaOf(twice), {
      type: "string",
      enum: ["a", "b"],
      not: { maxLength: 0 },
      allOf: [{ minLength: 1 }, { not: { maxLength: 9 } }, { enum: ["b", "c"] }]
    })
    const fields = Issuer.check(Crd.keywords({ required: ["vault", "acme"] }))
    assert.deepStrictEqual(schemaOf(fields)?.required, ["acme", "vault"])
  })

  it("refuses two schemas of one field", () => {
    const again = Issuer.check(Crd.keywords({ properties: { acme: { type: "string" } } }))
    assert.isTrue(Result.isFailure(structural(again)))
  })

  it("does not lose the type of an integer that has CEL rules", () => {
    const rules = [{ rule: "self > 0" }]
    const integer = Schema.Int.annotate({ "x-kubernetes-validations": rules })
    assert.deepStrictEqual(schemaOf(integer), { type: "integer", "x-kubernetes-validations": rules })
  })

  it("expresses a literal with a default", () => {
    const only = Schema.Literal("a").pipe(
      Schema.withDecodingDefaultKey(Schema.decodeUnknownEffect(Schema.Literal("a"))("a"))
    )
    assert.deepStrictEqual(schemaOf(only), { type: "string", enum: ["a"], default: "a" })
  })
})

describe("Crd.AnyValue", () => {
  it("is any value except null, and preserves unknown fields", () => {
    assert.deepStrictEqual(schemaOf(Crd.AnyValue), { "x-kubernetes-preserve-unknown-fields": true })
    assert.deepStrictEqual(schemaOf(Schema.Record(Schema.String, Crd.AnyValue)), {
      type: "object",
      additionalProperties: { "x-kubernetes-preserve-unknown-fields": true }
    })
    const decode = Schema.decodeUnknownResult(Crd.AnyValue)
    assert.isTrue(Result.isSuccess(decode({ a: [1, null] })))
    assert.isTrue(Result.isFailure(decode(null)))
  })
})
