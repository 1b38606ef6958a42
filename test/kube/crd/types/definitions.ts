/**
 * Random definitions, with every keyword that a structural schema can have, and objects for them: valid ones, and variants of these that have
 * more, less or other values. All are made from a list of random numbers, which shrinks.
 */
import * as Arbitrary from "effect/Arbitrary"
import type { Definition, Version } from "../../../../src/kube/crd/types/definition.ts"
import { checkRules } from "../../../../src/kube/cel/rules/checkRules.ts"
import { check } from "../../../../src/kube/structural/check.ts"
import type { StructuralSchema } from "../../../../src/kube/structural/StructuralSchema.ts"
import { type Mutable, schema as objectFrom, Tape, tapes, valueOf } from "../../structural/generated.ts"

/** Whether the API server accepts the schema. */
const isAccepted = (schema: StructuralSchema): boolean =>
  check(schema, "").length === 0 && checkRules(schema, "").length === 0

/** A schema with one more keyword that the API server would accept there; the same if it would not. */
const decorated = (schema: StructuralSchema, tape: Tape): StructuralSchema => {
  const more = tape.pick<(one: StructuralSchema) => Mutable>(
    (one) => one,
    () => ({ description: tape.pick("plain", 'a "quoted" */ text\n\u2028', "x".repeat(200), "`${1}`") }),
    () => ({ title: "Title", example: { a: 1 } }),
    () => ({ "x-kubernetes-validations": [{ rule: "self == self", message: "never" }] }),
    ({ type }) => (type === "object" ? { "x-kubernetes-map-type": "atomic" } : {}),
    ({ properties = {} }) => ({ oneOf: Object.keys(properties).map((name) => ({ required: [name] })) }),
    ({ properties = {} }) => ({ anyOf: [{ required: Object.keys(properties).slice(0, 1) }, { minProperties: 1 }] }),
    ({ properties = {} }) => ({ not: { required: Object.keys(properties).slice(0, 2) } }),
    () => ({ allOf: [{ minLength: 1 }, { maximum: 100 }] }),
    ({ type }) => (type === "object" ? { minProperties: 1, required: ["unnamed"] } : { minLength: 1 }),
    ({ type }) => (type === "array" ? { minItems: 1, maxItems: 9 } : { maxLength: 40 }),
    ({ type }) =>
      type === "string" ? { pattern: tape.pick("^[a-z]*$", "(?i)^X*", "a/b|x", "\\pL", "^[[:alpha:]]*$") } : {},
    ({ type }) => (type === "string" ? { enum: ["x", "abc", '"; throw 1; "'] } : {}),
    ({ type }) => (type === "integer" || type === "number" ? { enum: [1, 2, 5] } : {}),
    ({ type }) => (type === "boolean" ? { enum: [true] } : {}),
    ({ type }) => (type === "integer" ? { minimum: 1, exclusiveMinimum: true, maximum: 2 ** 60 } : {}),
    ({ type }) => (type === "number" ? { exclusiveMaximum: true, multipleOf: 0.25 } : {}),
    ({ properties, type }) => (type === "object" && properties === undefined ? { additionalProperties: true } : {}),
    ({ type }) => (type === "object" ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ({ type }) =>
      type === "object" ? { "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true } : {},
    () => ({ nullable: true }),
    () => ({ default: null })
  )(schema)
  const changed = { ...schema, ...more }
  const empty = Object.fromEntries(
    Object.entries(changed).filter(([, value]) => !(Array.isArray(value) && value.length === 0))
  ) as StructuralSchema
  return isAccepted({ type: "object", properties: { a: empty } }) ? empty : schema
}

const anyValue: ReadonlyArray<StructuralSchema> = [
  { "x-kubernetes-preserve-unknown-fields": true },
  { "x-kubernetes-preserve-unknown-fields": true, nullable: true },
  { "x-kubernetes-preserve-unknown-fields": true, properties: { known: { type: "integer" } } },
  { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true, nullable: true } },
  { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true } },
  { type: "object", additionalProperties: { type: "string", default: "x" } },
  { type: "object" },
  { type: "array", items: { type: "integer", default: 7 } }
]

/** The schema with further keywords at every place. */
const enriched = (schema: StructuralSchema, tape: Tape): StructuralSchema => {
  if (tape.draw(12) === 1) return decorated(anyValue[tape.draw(anyValue.length)]!, tape)
  const out: Mutable = { ...schema }
  if (schema.properties !== undefined) {
    out.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, one]) => [
        name,
        // A default has been made for the schema as it was.
        one.default === undefined ? enriched(one, tape) : one
      ])
    )
  }
  if (schema.items !== undefined && schema["x-kubernetes-list-type"] === undefined)
    out.items = enriched(schema.items, tape)
  if (typeof schema.additionalProperties === "object") {
    out.additionalProperties = enriched(schema.additionalProperties, tape)
  }
  return decorated(out, tape)
}

const described = { type: "string", description: "As always." } as const

const rootOf = (tape: Tape): StructuralSchema => {
  const properties: Record<string, StructuralSchema> = {}
  if (tape.draw(4) !== 1)
    Object.assign(properties, { apiVersion: described, kind: described, metadata: { type: "object" } })
  if (tape.draw(5) === 1) {
    properties["metadata"] = { type: "object", properties: { name: { type: "string", maxLength: 4 } } }
  }
  if (tape.draw(8) !== 1) properties["spec"] = enriched(objectFrom(tape), tape)
  if (tape.draw(2) === 1) properties["status"] = enriched(objectFrom(tape), tape)
  if (tape.draw(4) === 1) properties["data"] = enriched(objectFrom(tape), tape)
  const root: Mutable = { type: "object", properties }
  if (tape.draw(3) === 1) root.required = Object.keys(properties).slice(0, 1 + tape.draw(4))
  if (tape.draw(6) === 1) root["x-kubernetes-validations"] = [{ rule: "true" }]
  if (tape.draw(6) === 1) root.oneOf = Object.keys(properties).map((name) => ({ required: [name] }))
  if (tape.draw(8) === 1) root["x-kubernetes-preserve-unknown-fields"] = true
  return isAccepted(root) ? root : { type: "object", properties: { spec: { type: "object" } } }
}

const versionNames = ["v1", "v1beta1", "v1alpha1"]

const column = { name: "A", type: "string", jsonPath: ".spec.a", priority: 1 }

const versionsOf = (tape: Tape): Definition["spec"]["versions"] => {
  const count = 1 + tape.draw(3)
  const stored = tape.draw(count)
  const shown = tape.draw(count)
  const first = rootOf(tape)
  return versionNames.slice(0, count).map((name, index): Version => {
    const deprecated = tape.draw(4) === 1
    const version: Version = {
      name,
      served: index === shown || tape.draw(3) !== 1,
      storage: index === stored,
      schema: { openAPIV3Schema: tape.draw(2) === 1 ? first : rootOf(tape) }
    }
    return Object.assign(
      version,
      deprecated && { deprecated },
      deprecated && tape.draw(2) === 1 && { deprecationWarning: "use another" },
      tape.draw(2) === 1 && { subresources: { status: {} } },
      tape.draw(3) === 1 && { additionalPrinterColumns: [column] }
    )
  }) as unknown as Definition["spec"]["versions"]
}

/** A definition that the API server would accept. */
const definitionOf = (tape: Tape): Definition & { readonly apiVersion: string; readonly kind: string } => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: tape.pick("Namespaced", "Cluster"),
    names: {
      plural: "things",
      kind: tape.pick("Thing", "Schema", "effect"),
      ...(tape.draw(3) === 1 ? { singular: "one-thing", listKind: "Things" } : {}),
      ...(tape.draw(3) === 1 ? { shortNames: ["t"], categories: ["all"] } : {})
    },
    versions: versionsOf(tape)
  }
})

export interface Case {
  readonly definition: Definition
  /** Numbers for objects and for changes of them. */
  readonly more: Tape
}

export const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(tapes, (numbers) => {
  // Twice: a definition takes more numbers than one schema, and zeros are simple.
  const tape = new Tape([...numbers, ...numbers.toReversed()])
  const more = Array.from({ length: 500 }, (_, index) => (numbers[index % numbers.length]! * 31 + index * 7919) >>> 3)
  return { definition: definitionOf(tape), more: new Tape(more) }
})

/** A value of the schema as far as the generator knows it; with some luck valid, and sometimes with one change. */
export const objectOf = (schema: StructuralSchema, more: Tape): unknown => {
  const { properties = {}, ...rest } = schema
  const { apiVersion: _, kind: __, metadata: ___, ...own } = properties
  const value = valueOf({ ...rest, properties: own }, more) as Record<string, unknown>
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: more.pick("a", "long-name") },
    ...changed(value, more)
  }
}

const strange: ReadonlyArray<unknown> = [null, "", "x", 0, 1.5, true, [], {}, { typo: { deep: [1] } }, [null], 2 ** 55]

/** One member anywhere replaced by a strange value, in half of the cases. */
const changed = <A>(value: A, more: Tape): A => {
  if (typeof value !== "object" || value === null || more.draw(2) === 0) return value
  if (Array.isArray(value)) {
    const at = more.draw(value.length + 1)
    return value.toSpliced(
      at,
      1,
      at < value.length && more.draw(2) === 1 ? changed(value[at], more) : strange[more.draw(strange.length)]
    ) as A
  }
  const names = [...Object.keys(value), "unnamed", "typo"]
  const name = names[more.draw(names.length)]!
  const inner = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  const entries = Object.entries(value).filter(([key]) => key !== name)
  return Object.fromEntries([
    ...entries,
    [name, inner !== undefined && more.draw(3) !== 1 ? changed(inner, more) : strange[more.draw(strange.length)]]
  ]) as A
}
