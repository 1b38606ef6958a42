/** The error messages of refused values and schemas, one case each. */
import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../src/kube/structural/check.ts"
import { applyDefaults } from "../../../src/kube/structural/applyDefaults.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import { validate } from "../../../src/kube/structural/validate.ts"

const specOf = (properties: Record<string, StructuralSchema>, more: StructuralSchema = {}): StructuralSchema => ({
  type: "object",
  properties: { spec: { type: "object", properties, ...more } }
})

const values: ReadonlyArray<
  readonly [what: string, schema: StructuralSchema, spec: unknown, textsOf: ReadonlyArray<string>]
> = [
  [
    "too great",
    specOf({ size: { type: "integer", maximum: 3 } }),
    { size: 5 },
    ["spec.size: Invalid value: 5: spec.size in body should be less than or equal to 3"]
  ],
  [
    "not below an exclusive bound",
    specOf({ size: { type: "number", maximum: 3, exclusiveMaximum: true } }),
    { size: 3 },
    ["spec.size: Invalid value: 3: spec.size in body should be less than 3"]
  ],
  [
    "too little",
    specOf({ size: { type: "integer", minimum: 1 } }),
    { size: 0 },
    ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"]
  ],
  ["missing", specOf({ size: { type: "integer" } }, { required: ["size"] }), {}, ["spec.size: Required value"]],
  [
    "not in the enum",
    specOf({ color: { type: "string", enum: ["red", "green"] } }),
    { color: "blue" },
    ['spec.color: Unsupported value: "blue": supported values: "red", "green"']
  ],
  [
    "another type",
    specOf({ size: { type: "integer" } }),
    { size: "5" },
    ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"']
  ],
  [
    "a fraction",
    specOf({ size: { type: "integer" } }),
    { size: 1.5 },
    ['spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"']
  ],
  [
    "null",
    specOf({ size: { type: "integer" } }),
    { size: null },
    ['spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"']
  ],
  ["null where it is allowed", specOf({ size: { type: "integer", nullable: true } }), { size: null }, []],
  [
    "another pattern",
    specOf({ name: { type: "string", pattern: "^[a-z]+$" } }),
    { name: "A" },
    ["spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'"]
  ],
  ["a pattern found anywhere", specOf({ name: { type: "string", pattern: "b" } }), { name: "abc" }, []],
  [
    "a class of characters by its name",
    specOf({ name: { type: "string", pattern: "^[[:alpha:]]$" } }),
    { name: "a" },
    []
  ],
  ["a pattern with flags", specOf({ name: { type: "string", pattern: "(?i)^abc$" } }), { name: "ABC" }, []],
  [
    "too long",
    specOf({ name: { type: "string", maxLength: 2 } }),
    { name: "abc" },
    ["spec.name: Too long: may not be more than 2 bytes"]
  ],
  ["characters, not code units", specOf({ name: { type: "string", maxLength: 2 } }), { name: "😀😀" }, []],
  [
    "too short",
    specOf({ name: { type: "string", minLength: 2 } }),
    { name: "a" },
    ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long']
  ],
  [
    "another format",
    specOf({ at: { type: "string", format: "date-time" } }),
    { at: "now" },
    ['spec.at: Invalid value: "now": spec.at in body must be of type date-time: "now"']
  ],
  ["an unknown format", specOf({ at: { type: "string", format: "moon-phase" } }), { at: "now" }, []],
  [
    "too many items",
    specOf({ list: { type: "array", items: { type: "string" }, maxItems: 1 } }),
    { list: ["a", "b"] },
    ["spec.list: Too many: 2: must have at most 1 items"]
  ],
  [
    "too few items",
    specOf({ list: { type: "array", items: { type: "string" }, minItems: 1 } }),
    { list: [] },
    ["spec.list: Invalid value: 0: spec.list in body should have at least 1 items"]
  ],
  [
    "an element",
    specOf({ list: { type: "array", items: { type: "string" } } }),
    { list: ["a", 1] },
    ['spec.list[1]: Invalid value: "integer": spec.list[1] in body must be of type string: "integer"']
  ],
  [
    "twice in a set",
    specOf({ list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" } }),
    { list: ["a", "b", "a", "a"] },
    ['spec.list[2]: Duplicate value: "a"']
  ],
  [
    "twice in a map, once by its default",
    specOf({
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        items: {
          type: "object",
          properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" } },
          required: ["port"]
        }
      }
    }),
    { ports: [{ port: 1 }, { port: 1, protocol: "UDP" }, { port: 1, protocol: "TCP" }] },
    ['spec.ports[2]: Duplicate value: {"port":1,"protocol":"TCP"}']
  ],
  [
    "none of the alternatives",
    specOf({ a: { type: "string" } }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    {},
    [
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
      "spec.a: Required value"
    ]
  ],
  [
    "two of the alternatives",
    specOf({}, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { a: 1, b: 1 },
    ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives']
  ],
  [
    "what is excluded",
    specOf({}, { not: { required: ["a"] } }),
    { a: 1 },
    ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']
  ],
  [
    "not one of two types",
    specOf({ port: { "x-kubernetes-int-or-string": true } }),
    { port: true },
    ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"']
  ],
  [
    "too many members",
    specOf({}, { maxProperties: 1 }),
    { a: 1, b: 2 },
    ["spec: Too many: 2: must have at most 1 items"]
  ]
]

const root = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })

const schemas: ReadonlyArray<readonly [what: string, schema: unknown, textsOf: ReadonlyArray<string>]> = [
  ["a good schema", root({ spec: { type: "object" } }), []],
  [
    "a pattern that Go cannot read",
    root({ spec: { type: "string", pattern: "^(?=a)b$" } }),
    [
      'schema.properties[spec].pattern: Invalid value: "^(?=a)b$": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`'
    ]
  ],
  [
    "patterns that this platform cannot read, or reads otherwise",
    root({ a: { type: "string", pattern: "(?U)^\\pL+?$" }, b: { type: "string", pattern: "[[:alpha:]]\\z" } }),
    []
  ],
  ["no type at the root", { properties: {} }, ["schema.type: Required value: must not be empty at the root"]],
  [
    "another type at the root",
    { type: "array", items: { type: "string" } },
    ['schema.type: Invalid value: "array": must be object at the root']
  ],
  [
    "a field without a type",
    root({ spec: {} }),
    ["schema.properties[spec].type: Required value: must not be empty for specified object fields"]
  ],
  [
    "items without a type",
    root({ list: { type: "array", items: {} } }),
    ["schema.properties[list].items.type: Required value: must not be empty for specified array items"]
  ],
  [
    "a list without items",
    root({ list: { type: "array" } }),
    ["schema.properties[list].items: Required value: must be specified"]
  ],
  [
    "an unknown type",
    root({ a: { type: "text" } }),
    [
      'schema.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"'
    ]
  ],
  [
    "null as a type",
    root({ a: { type: "null" } }),
    ["schema.properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative"]
  ],
  [
    "a reference",
    root({ a: { $ref: "#/definitions/a" } }),
    ["schema.properties[a].$ref: Forbidden: $ref is not supported"]
  ],
  [
    "unique items",
    root({ a: { type: "array", items: { type: "string" }, uniqueItems: true } }),
    [
      "schema.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
    ]
  ],
  [
    "named members and others",
    root({ a: { type: "object", properties: { b: { type: "string" } }, additionalProperties: { type: "string" } } }),
    ["schema.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]
  ],
  [
    "a map without keys",
    root({ a: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" } }),
    [
      "schema.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"
    ]
  ],
  [
    "keys that are no members",
    root({
      a: {
        type: "array",
        items: { type: "object" },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"]
      }
    }),
    [
      'schema.properties[a].x-kubernetes-list-map-keys: Invalid value: ["k"]: entries must all be names of item properties'
    ]
  ],
  [
    "a type in a narrowing",
    root({ a: { type: "string", anyOf: [{ type: "string" }] } }),
    ["schema.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"]
  ],
  [
    "an integer or a string",
    root({ a: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] } }),
    []
  ],
  [
    "metadata described",
    root({ metadata: { type: "object", properties: { labels: { type: "object" } } } }),
    [
      "schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"
    ]
  ],
  [
    "a name restricted",
    root({ metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } }),
    []
  ],
  [
    "a default of another type",
    root({ a: { type: "integer", default: "x" } }),
    [
      'schema.properties[a].default: Invalid value: "string": schema.properties[a].default in body must be of type integer: "string"'
    ]
  ],
  [
    "a default with unknown fields",
    root({ a: { type: "object", default: { b: 1 } } }),
    ['schema.properties[a].default: Invalid value: {"b":1}: must not have unknown fields']
  ],
  ["no schema at all", "text", ['schema: Invalid value: "text": must be a schema']],
  [
    "null where a schema belongs",
    { type: "array", items: null },
    ["schema.items: Invalid value: null: must be a schema"]
  ],
  [
    "members of wrong types",
    { type: "object", properties: [], required: [1] },
    [
      "schema.properties: Invalid value: []: must be an object",
      "schema.required: Invalid value: [1]: must be an array of strings"
    ]
  ]
]

const textsOf = (causes: ReadonlyArray<{ readonly field: string; readonly message: string }>) =>
  causes.map(({ field, message }) => `${field}: ${message}`)

describe("the errors of a value", () => {
  for (const [what, schema, spec, expected] of values) {
    it(`report ${what}`, () => {
      assert.deepStrictEqual(check(schema, "schema"), [])
      assert.deepStrictEqual(textsOf(validate(schema, { spec })), expected)
    })
  }
})

describe("the errors of a schema", () => {
  for (const [what, schema, expected] of schemas) {
    it(`report ${what}`, () => assert.deepStrictEqual(textsOf(check(schema, "schema")), expected))
  }
})

describe("defaults", () => {
  it("are filled in inside of a default, and a complete object is returned itself", () => {
    const schema = specOf({ port: { type: "integer", default: 80 } }, { default: {} })
    assert.deepStrictEqual(applyDefaults(schema, {}), { spec: { port: 80 } })
    const full = { spec: { port: 1 } }
    assert.strictEqual(applyDefaults(schema, full), full)
  })
})
