/** The structural schema of each form of Schema, and the forms that are refused, with path and reason. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { structural } from "../../../src/kube/crd/structural.ts"

class Address extends Schema.Class<Address>("Address")({ street: Schema.String }) {}

interface Tree {
  readonly next?: Tree
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  next: Schema.optionalKey(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

const A = Schema.Struct({ type: Schema.Literal("A"), size: Schema.Int })
const B = Schema.Struct({ type: Schema.Literal("B"), name: Schema.optionalKey(Schema.String) })

const anything = { nullable: true, "x-kubernetes-preserve-unknown-fields": true }
const rule = { rule: "self.size() > 2", message: "too short" }

const said: ReadonlyArray<readonly [what: string, schema: Schema.Constraint, expected: object]> = [
  ["a description", Schema.String.annotate({ description: "A name." }), { type: "string", description: "A name." }],
  [
    "a description that was given before a check",
    Schema.Int.annotate({ description: "How many." }).check(Schema.isGreaterThan(0)),
    { type: "integer", description: "How many.", minimum: 0, exclusiveMinimum: true }
  ],
  ["nothing for an empty description", Schema.String.annotate({ description: "" }), { type: "string" }],
  [
    "nothing for a default of null, which the server reads as none",
    Schema.Struct({ a: Schema.NullOr(Schema.Int).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))) }),
    { type: "object", properties: { a: { type: "integer", nullable: true } } }
  ],
  ["a format", Schema.String.annotate({ format: "date-time" }), { type: "string", format: "date-time" }],
  ["literals", Schema.Literals(["a", "b"]), { type: "string", enum: ["a", "b"] }],
  [
    "literals or null",
    Schema.NullOr(Schema.Literals(["a", "b"])),
    { type: "string", allOf: [{ enum: ["a", "b"] }], nullable: true }
  ],
  [
    "an integer or a string",
    Schema.Union([Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), Schema.String.check(Schema.isPattern(/^\d+%$/))]),
    {
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
      minimum: 0,
      pattern: String.raw`^\d+%$`
    }
  ],
  ["anything", Schema.Unknown, anything],
  ["JSON", Schema.Json, anything],
  ["a record", Schema.Record(Schema.String, Schema.Int), { type: "object", additionalProperties: { type: "integer" } }],
  [
    "an open struct",
    Schema.StructWithRest(Schema.Struct({ a: Schema.Boolean }), [Schema.Record(Schema.String, Schema.Unknown)]),
    {
      type: "object",
      properties: { a: { type: "boolean" } },
      required: ["a"],
      "x-kubernetes-preserve-unknown-fields": true
    }
  ],
  [
    "a class",
    Schema.Struct({ address: Schema.optionalKey(Address) }),
    {
      type: "object",
      properties: { address: { type: "object", properties: { street: { type: "string" } }, required: ["street"] } }
    }
  ],
  [
    "a default of a class",
    Schema.Struct({ address: Address.pipe(Schema.withDecodingDefaultKey(Effect.succeed({ street: "x" }))) }),
    {
      type: "object",
      properties: {
        address: {
          type: "object",
          properties: { street: { type: "string" } },
          required: ["street"],
          default: { street: "x" }
        }
      }
    }
  ],
  [
    "all ways of giving a default",
    Schema.Struct({
      a: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
      b: Schema.Int.pipe(Schema.withDecodingDefault(Effect.succeed(2))),
      c: Schema.Int.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(3)))
    }),
    {
      type: "object",
      properties: {
        a: { type: "integer", default: 1 },
        b: { type: "integer", default: 2 },
        c: { type: "integer", default: 3 }
      }
    }
  ],
  [
    "structs that one field tells apart",
    Schema.Union([A, B]),
    {
      type: "object",
      properties: {
        type: { type: "string", enum: ["A", "B"] },
        size: { type: "integer" },
        name: { type: "string" }
      },
      required: ["type"],
      oneOf: [
        { properties: { type: { enum: ["A"] } }, required: ["size", "type"] },
        { properties: { type: { enum: ["B"] } }, required: ["type"] }
      ]
    }
  ],
  [
    "how a list is merged",
    Schema.Array(A).annotate({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    {
      type: "array",
      items: {
        type: "object",
        properties: { type: { type: "string", enum: ["A"] }, size: { type: "integer" } },
        required: ["size", "type"]
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"]
    }
  ],
  [
    "rules, of a check and of a schema",
    Schema.String.annotate({ "x-kubernetes-validations": [{ rule: "self != ''" }] }).check(
      Schema.makeFilter((text) => text.length > 2, { "x-kubernetes-validations": [rule] })
    ),
    { type: "string", "x-kubernetes-validations": [{ rule: "self != ''" }, rule] }
  ],
  [
    "a UUID",
    Schema.String.check(Schema.isUUID(4)),
    {
      type: "string",
      pattern: "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$"
    }
  ]
]

const inSpec = (field: Schema.Constraint) => Schema.Struct({ spec: Schema.Struct({ field }) })

const refused: ReadonlyArray<readonly [schema: Schema.Constraint, path: string, why: RegExp]> = [
  [Schema.DateFromString, "spec.field", /transformation/],
  [Schema.Date, "spec.field", /JSON does not have/],
  [Schema.BigInt, "spec.field", /BigInt/],
  [Schema.Null, "spec.field", /Null/],
  [Tree, "spec.field.next.next", /recursive/],
  [Schema.Tuple([Schema.Int, Schema.String]), "spec.field", /tuple/],
  [Schema.Array(Schema.Date), "spec.field[]", /JSON does not have/],
  [Schema.Record(Schema.String, Schema.Date), "spec.field[*]", /JSON does not have/],
  [Schema.Union([Schema.String, Schema.Boolean]), "spec.field", /union/],
  [Schema.Literals(["a", 1]), "spec.field", /union/],
  [Schema.Union([A, Schema.Struct({ size: Schema.Int })]), "spec.field", /told apart/],
  [
    Schema.Union([A, Schema.Struct({ type: Schema.Literal("C"), size: Schema.String })]),
    "spec.field.size",
    /different schemas/
  ],
  [Schema.String.check(Schema.makeFilter((text) => text !== "")), "spec.field", /x-kubernetes-validations/],
  [Schema.String.check(Schema.isPattern(/(?=a)b/)), "spec.field", /RE2/],
  [Schema.String.check(Schema.isPattern(/abc/i)), "spec.field", /RE2/],
  [Schema.Array(A).check(Schema.isUnique()), "spec.field", /scalars/],
  [
    Schema.Int.check(Schema.isGreaterThan(3)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
    "spec.field",
    /default does not fit/
  ],
  [
    Schema.Struct({ a: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))) }).pipe(
      Schema.withDecodingDefaultTypeKey(Effect.succeed({ a: 1 }))
    ),
    "spec.field",
    /decoded form/
  ],
  [Schema.Struct({ "a.b": Schema.Date }), 'spec.field["a.b"]', /JSON does not have/]
]

describe("a structural schema", () => {
  it.each(said)("expresses %s", (_, schema, expected) => {
    assert.deepStrictEqual<unknown>(Result.getOrThrow(structural(schema)), expected)
  })

  it.each(refused.map(([schema, path, why], at) => [at, path, why, schema] as const))(
    "is refused (%i) at %s: %s",
    (_, path, why, schema) => {
      const [refusal, ...others] = Result.getOrThrow(Result.flip(structural(inSpec(schema))))
      assert.strictEqual(refusal?.path, path)
      assert.match(refusal?.why ?? "", why)
      assert.isEmpty(others)
    }
  )

  it("a schema with several refusals reports all of them", () => {
    const schema = Schema.Struct({ a: Schema.Date, b: Schema.Struct({ c: Schema.Symbol }) })
    const refusals = Result.getOrThrow(Result.flip(structural(schema, "spec")))
    assert.deepStrictEqual(
      refusals.map(({ path }) => path),
      ["spec.a", "spec.b.c"]
    )
  })
})
