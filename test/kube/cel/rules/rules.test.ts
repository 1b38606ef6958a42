import { assert, describe, it } from "@effect/vitest"
import { checkRules } from "../../../../src/kube/cel/rules/checkRules.ts"
import { evaluateRules } from "../../../../src/kube/cel/rules/rules.ts"
import type { StructuralSchema } from "../../../../src/kube/structural/StructuralSchema.ts"

const integer: StructuralSchema = { type: "integer" }
const name: StructuralSchema = { type: "string", maxLength: 10 }

type Rule = Readonly<Record<string, unknown>>

const spec = (rules: ReadonlyArray<Rule>, properties: StructuralSchema["properties"] = {}): StructuralSchema => ({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { min: integer, max: integer, ...properties },
      "x-kubernetes-validations": rules
    }
  }
})

const causes = (schema: StructuralSchema, value: unknown, old?: unknown) =>
  evaluateRules(schema, { spec: value }, old === undefined ? undefined : { spec: old })

const texts = (...found: Parameters<typeof causes>) =>
  causes(...found).map(({ field, message, reason }) => `${reason} ${field}: ${message}`)

describe("a rule that is not met", () => {
  it("is an error of the field that it is at, with the rule or its message", () => {
    const rule = "self.min <= self.max"
    const value = { min: 2, max: 1 }
    assert.deepStrictEqual(texts(spec([{ rule }]), value), [
      `FieldValueInvalid spec: Invalid value: failed rule: ${rule}`
    ])
    assert.deepStrictEqual(texts(spec([{ rule, message: "too small" }]), value), [
      "FieldValueInvalid spec: Invalid value: too small"
    ])
    assert.deepStrictEqual(texts(spec([{ rule }]), { min: 1, max: 2 }), [])
  })

  it("of a whole object reads its apiVersion, its kind and its names", () => {
    const rule = "self.kind == 'Pool' && self.apiVersion == 'example.com/v1' && self.metadata.name.size() < 3"
    const object = (size: number) => ({
      apiVersion: "example.com/v1",
      kind: "Pool",
      metadata: { name: "x".repeat(size) }
    })
    const schema: StructuralSchema = {
      type: "object",
      properties: { metadata: { type: "object" } },
      "x-kubernetes-validations": [{ rule }]
    }
    assert.deepStrictEqual(evaluateRules(schema, object(2), undefined), [])
    assert.strictEqual(evaluateRules(schema, object(3), undefined).length, 1)
    assert.match(
      evaluateRules(schema, object(2), undefined, { isResource: false })[0]?.message ?? "",
      /undefined field/
    )
  })

  it("names the field path and the reason of the rule, and shows a scalar", () => {
    const rule = { rule: "self.min <= self.max", fieldPath: ".min", reason: "FieldValueForbidden", message: "no" }
    assert.deepStrictEqual(texts(spec([rule]), { min: 2, max: 1 }), ["FieldValueForbidden spec.min: Forbidden: no"])
    const scalar = spec([], { size: { ...integer, "x-kubernetes-validations": [{ rule: "self < 3" }] } })
    assert.deepStrictEqual(texts(scalar, { size: 5 }), [
      "FieldValueInvalid spec.size: Invalid value: 5: failed rule: self < 3"
    ])
  })

  it("has the message that its expression yields, and the other one if that yields none", () => {
    const rule = "self.min <= self.max"
    const expression = "'at most ' + string(self.max)"
    const value = { min: 2, max: 1 }
    const messageOf = (rules: Rule) => causes(spec([rules]), value)[0]?.message
    assert.strictEqual(messageOf({ rule, messageExpression: expression }), "Invalid value: at most 1")
    assert.strictEqual(messageOf({ rule, messageExpression: "''", message: "m" }), "Invalid value: m")
    assert.strictEqual(
      messageOf({ rule, messageExpression: "string(1 / (self.max - 1))", message: "m" }),
      "Invalid value: m"
    )
  })

  it("fails with the server's text, if it has no value", () => {
    assert.deepStrictEqual(texts(spec([{ rule: "self.min / self.max > 1" }]), { min: 2, max: 0 }), [
      'FieldValueInvalid spec: Invalid value: "object": division by zero evaluating rule: self.min / self.max > 1'
    ])
    assert.deepStrictEqual(texts(spec([{ rule: "self.min > 1" }]), {}), [
      'FieldValueInvalid spec: Invalid value: "object": no such key: min evaluating rule: self.min > 1'
    ])
  })
})

describe("a transition rule", () => {
  const rule = "self.min == oldSelf.min"

  it("runs only where there is an old value, and also for a value that does not change", () => {
    assert.deepStrictEqual(texts(spec([{ rule }]), { min: 1 }), [])
    assert.deepStrictEqual(texts(spec([{ rule }]), { min: 1 }, { min: 1 }), [])
    assert.strictEqual(texts(spec([{ rule }]), { min: 2 }, { min: 1 }).length, 1)
  })

  it("runs without an old value too, if oldSelf is optional", () => {
    const optional = { rule: "!oldSelf.hasValue() || oldSelf.value().min == self.min", optionalOldSelf: true }
    assert.deepStrictEqual(texts(spec([optional]), { min: 1 }), [])
    assert.strictEqual(texts(spec([optional]), { min: 2 }, { min: 1 }).length, 1)
    const required = { rule: "oldSelf.hasValue()", optionalOldSelf: true }
    assert.strictEqual(texts(spec([required]), { min: 1 }).length, 1)
  })

  it("compares elements of a list that is a map by their keys", () => {
    const element: StructuralSchema = {
      type: "object",
      properties: { name, size: integer },
      "x-kubernetes-validations": [{ rule: "self.size >= oldSelf.size" }]
    }
    const list: StructuralSchema = {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: element
    }
    const schema = spec([], { list })
    const old = {
      list: [
        { name: "a", size: 2 },
        { name: "b", size: 5 }
      ]
    }
    const moved = {
      list: [
        { name: "b", size: 5 },
        { name: "a", size: 2 },
        { name: "c", size: 0 }
      ]
    }
    assert.deepStrictEqual(texts(schema, moved, old), [])
    const less = {
      list: [
        { name: "b", size: 4 },
        { name: "a", size: 2 }
      ]
    }
    assert.deepStrictEqual(texts(schema, less, old), [
      "FieldValueInvalid spec.list[0]: Invalid value: failed rule: self.size >= oldSelf.size"
    ])
  })
})

describe("a value that does not change", () => {
  it("is not refused by a rule that it did not meet before, and one that changes is", () => {
    const schema = spec([], { size: { ...integer, "x-kubernetes-validations": [{ rule: "self < 3" }] } })
    assert.deepStrictEqual(texts(schema, { size: 5, min: 1 }, { size: 5, min: 0 }), [])
    assert.strictEqual(texts(schema, { size: 6 }, { size: 5 }).length, 1)
  })
})

describe("the rules of one object", () => {
  it("share a budget, and stop with one error when it is spent", () => {
    const rule = { rule: "self.names.all(a, self.names.all(b, a != b || a == b))" }
    const schema = spec([rule, rule], { names: { type: "array", items: name } })
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`)
    const value = { spec: { names } }
    const found = evaluateRules(schema, value, undefined, { budget: { remaining: 1000 } })
    assert.deepStrictEqual(
      found.map(({ message }) => message),
      [
        'Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run'
      ]
    )
  })

  it("stop with one error when one of them spends the limit of a single evaluation", () => {
    const rule = { rule: "self.names.all(a, self.names.all(b, a != b || a == b))" }
    const names = Array.from({ length: 2000 }, (_, index) => `n${index}`)
    const found = causes(spec([rule, { rule: "false" }], { names: { type: "array", items: name } }), { names })
    assert.deepStrictEqual(
      found.map(({ message }) => message),
      [
        `Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule.rule}`
      ]
    )
  })
})

describe("values of a schema", () => {
  const holds = (rule: string, properties: StructuralSchema["properties"], value: object): boolean =>
    texts(spec([{ rule }], properties), value).length === 0

  it("have the types that the schema says, though JSON has one type of number", () => {
    const properties = { number: { type: "number" }, port: { "x-kubernetes-int-or-string": true } } as const
    assert.isTrue(holds("type(self.number) == double && self.number / 2.0 == 0.5", properties, { number: 1 }))
    assert.isTrue(holds("type(self.min) == int && self.min / 2 == 0", properties, { min: 1 }))
    assert.isTrue(holds("type(self.port) == int ? self.port < 9 : self.port == 'http'", properties, { port: 8 }))
    assert.isTrue(holds("type(self.port) == int ? self.port < 9 : self.port == 'http'", properties, { port: "http" }))
  })

  it("are durations, times and octets by their formats", () => {
    const of = (format: string) => ({ field: { type: "string", format } as const })
    assert.isTrue(holds("self.field > duration('59m')", of("duration"), { field: "1h" }))
    assert.isTrue(holds("self.field.getFullYear() == 2024", of("date"), { field: "2024-05-06" }))
    assert.isTrue(
      holds("self.field < timestamp('2024-05-06T00:00:00.5Z')", of("date-time"), { field: "2024-05-06T00:00:00Z" })
    )
    assert.isTrue(holds("self.field == b'AB'", of("byte"), { field: "QUI=" }))
  })

  it("are read under escaped names", () => {
    const properties = { "a-b": integer, "c.d": integer, "e/f": integer, namespace: integer, g__h: integer }
    const value = { "a-b": 1, "c.d": 2, "e/f": 3, namespace: 4, g__h: 5 }
    const rule =
      "self.a__dash__b == 1 && self.c__dot__d == 2 && self.e__slash__f == 3 && self.__namespace__ == 4 && self.g__underscores__h == 5"
    assert.isTrue(holds(rule, properties, value))
  })

  it("are compared and added without order, where lists are sets or maps", () => {
    const set: StructuralSchema = { type: "array", items: name, "x-kubernetes-list-type": "set" }
    assert.isTrue(
      holds(
        "self.a == self.b && self.a + ['c'] == ['a', 'b', 'c']",
        { a: set, b: set },
        { a: ["a", "b"], b: ["b", "a"] }
      )
    )
    const list: StructuralSchema = { type: "array", items: name }
    assert.isFalse(holds("self.a == self.b", { a: list, b: list }, { a: ["a", "b"], b: ["b", "a"] }))
  })

  it("have no fields that come from a prototype", () => {
    const map: StructuralSchema = { type: "object", additionalProperties: name }
    assert.isTrue(holds("!('constructor' in self.map) && !('__proto__' in self.map)", { map }, { map: {} }))
    assert.isTrue(holds("'__proto__' in self.map", { map }, JSON.parse('{"map":{"__proto__":"x"}}')))
  })
})

describe("the check of the rules of a definition", () => {
  const found = (schema: StructuralSchema) =>
    checkRules(schema, "schema").map(({ field, message }) => `${field}: ${message}`)
  const at = "schema.properties[spec].x-kubernetes-validations[0]"
  const shown = (rule: string) =>
    JSON.stringify({
      Rule: rule,
      Message: "",
      MessageExpression: "",
      Reason: null,
      FieldPath: "",
      OptionalOldSelf: null
    })

  it.each([
    ["self.other > 1", "<input>:1:5: undefined field 'other'", 4],
    ["self.min.x == 1", "<input>:1:9: type 'int' does not support field selection", 8],
    ["self.min + 'a' == 1", "<input>:1:10: found no matching overload for '_+_' applied to '(int, string)'", 9],
    ["self.min == other", "<input>:1:13: undeclared reference to 'other' (in container '')", 12],
    ["[1, 'a'].size() == 2", "<input>:1:5: expected type 'int' but found 'string'", 4],
    [
      "self.min.all(x, true)",
      "<input>:1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
      4
    ],
    ["'a'.matches('(')", "<input>:1:13: invalid matches argument", 12],
    [
      "math.greatest(1, 2) == 2",
      "<input>:1:1: undeclared reference to 'math' (in container '')\n | math.greatest(1, 2) == 2\n | ^\nERROR: <input>:1:14: undeclared reference to 'greatest' (in container '')",
      13
    ]
  ])("refuses %s", (rule, error, marks) => {
    const value = shown(rule).replaceAll(">", "\\u003e")
    assert.deepStrictEqual(found(spec([{ rule }])), [
      `${at}.rule: Invalid value: ${value}: compilation failed: ERROR: ${error}\n | ${rule}\n | ${".".repeat(marks)}^`
    ])
  })

  it("refuses a rule that is no bool, and a message that is no string", () => {
    assert.include(found(spec([{ rule: "self.min" }]))[0], "cel expression must evaluate to a bool")
    assert.include(
      found(spec([{ rule: "true", messageExpression: "self.min" }]))[0],
      "messageExpression must evaluate to a string"
    )
  })

  it.each([
    [{ rule: " " }, "rule: Required value: rule is not specified"],
    [{ rule: "true", message: " " }, 'message: Invalid value: " ": must be non-empty if specified'],
    [{ rule: "true\n&& true" }, "message: Required value: message must be specified if rule contains line breaks"],
    [{ rule: "true", fieldPath: ".other" }, 'fieldPath: Invalid value: ".other": must be a valid path'],
    [
      { rule: "true", optionalOldSelf: true },
      "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"
    ],
    [
      { rule: "true", reason: "Other" },
      'reason: Unsupported value: "Other": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'
    ]
  ])("refuses %j", (rule, error) => {
    assert.deepStrictEqual(found(spec([rule])), [`${at}.${error}`])
  })

  it("refuses oldSelf inside of a list without keys", () => {
    const items: StructuralSchema = { ...integer, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] }
    const list: StructuralSchema = { type: "array", maxItems: 3, items }
    assert.deepStrictEqual(found(spec([], { list })), [
      'schema.properties[spec].properties[list].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": ' +
        "oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec].properties[list]"
    ])
  })

  it("refuses rules whose worst cost exceeds the limit of one rule or of a definition", () => {
    const list = (maxItems?: number): StructuralSchema => ({
      type: "array",
      items: { type: "string", maxLength: 20 },
      ...(maxItems === undefined ? {} : { maxItems })
    })
    const rule = { rule: "self.list.all(a, self.list.exists_one(b, a == b))" }
    const advice =
      "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    assert.deepStrictEqual(found(spec([rule], { list: list(100) })), [])
    const unbounded = found(spec([rule], { list: list() }))
    assert.strictEqual(
      unbounded[0],
      `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`
    )
    assert.include(unbounded.at(-1), "schema: Forbidden: x-kubernetes-validations estimated rule cost total")
  })
})
