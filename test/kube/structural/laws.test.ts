import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Default from "../../../src/kube/structural/applyDefaults.ts"
import * as Check from "../../../src/kube/structural/check.ts"
import * as Faults from "../../../src/kube/structural/validate.ts"
import * as Lists from "../../../src/kube/structural/lists.ts"
import * as Prune from "../../../src/kube/structural/prune.ts"
import type { Cause, StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import { checkProperty } from "../../support/property.ts"
import { places, schema as schemaFrom, Tape, tapes, valueOf } from "./generated.ts"
import type { Place } from "./generated.ts"

interface Case {
  readonly schema: StructuralSchema
  readonly value: unknown
  /** Numbers for further choices. */
  readonly more: Tape
}

const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(tapes, (numbers) => {
  const tape = new Tape(numbers)
  const schema = schemaFrom(tape)
  return { schema, value: valueOf(schema, tape), more: tape }
})

const same = (a: unknown, b: unknown): boolean => Lists.canonical(a) === Lists.canonical(b)

/** A value that the place's own schema refuses, also after defaults are filled in and nulls are dropped. */
const wrongFor = ({ schema }: Place, tape: Tape): unknown => {
  if (schema["x-kubernetes-int-or-string"] === true) return true
  switch (schema.type) {
    case "object":
    case "array":
      return tape.pick<unknown>("text", 7)
    case "boolean":
      return tape.pick<unknown>("true", 1)
    case "integer":
      if (schema.format === undefined && schema.maximum === undefined) return tape.pick<unknown>(1.5, "1")
      return schema.maximum === undefined ? tape.pick<unknown>(1.5, "1", 3e9) : tape.pick<unknown>(0, 4, 1.5, [])
    case "number":
      return schema.multipleOf === undefined ? tape.pick<unknown>(0, -1, "1") : tape.pick<unknown>(0.3, true)
    default:
      if (schema.maxLength !== undefined) return tape.pick<unknown>("", "abcdef", 1)
      if (schema.pattern !== undefined) return tape.pick<unknown>("Upper", 1)
      if (schema.enum !== undefined) return tape.pick<unknown>("blue", "RED")
      if (schema.format !== undefined) return tape.pick<unknown>("2021-02-29T00:00:00Z", "now")
      return tape.pick<unknown>(1, {})
  }
}

describe("Faults", () => {
  checkProperty("a valid value is accepted", cases, ({ schema, value }) => {
    return Faults.faults(schema, value, "").length === 0
  })

  checkProperty("a value that is invalid in one place is refused for that place", cases, ({ more, schema, value }) =>
    places(schema, value).every((place) => {
      const causes = Faults.faults(schema, place.replaced(wrongFor(place, more)), "")
      const field = place.path === "" ? "<nil>" : place.path
      // A number beyond its format, and a value that fits no alternative, are errors of the object as a whole.
      const isOfPlace = (one: Cause) =>
        one.field === field || (one.field === "<nil>" && one.message.includes(place.path))
      return causes.length > 0 && causes.every(isOfPlace)
    })
  )

  checkProperty("a required field that is missing is reported", cases, ({ more, schema, value }) => {
    const all = places(schema, value).filter((one) => one.schema.required !== undefined && one.value !== null)
    const place = all[more.draw(Math.max(1, all.length))]
    if (place === undefined) return true
    const causes = Faults.faults(schema, place.replaced({}), "")
    return place.schema.required!.every((name) => {
      const field = place.path === "" ? name : `${place.path}.${name}`
      return causes.some((one) => one.field === field && one.message === "Required value")
    })
  })

  checkProperty("null is refused where it is not nullable", cases, ({ more, schema, value }) => {
    const all = places(schema, value)
    const place = all[more.draw(all.length)]!
    const refused = Faults.faults(schema, place.replaced(null), "").length > 0
    return refused === (place.schema.nullable !== true)
  })

  checkProperty(
    "allOf, anyOf, oneOf and not accept the combinations that they name",
    cases,
    ({ more, schema, value }) => {
      const good: StructuralSchema = schema
      const bad: StructuralSchema = { type: "string" }
      const list = Array.from({ length: 1 + more.draw(3) }, () => more.pick(good, bad))
      const fitting = list.filter((one) => one === good).length
      const isFine = (one: StructuralSchema) => Faults.faults(one, value, "spec").length === 0
      return (
        isFine({ allOf: list }) === (fitting === list.length) &&
        isFine({ anyOf: list }) === fitting > 0 &&
        isFine({ oneOf: list }) === (fitting === 1) &&
        isFine({ not: list[0]! }) === (list[0] === bad)
      )
    }
  )
})

/** The value with members that the schema does not know, in every object. */
const withUnknownFields = (schema: StructuralSchema, value: unknown, tape: Tape) => {
  const dropped: Array<string> = []
  let out = value
  for (const { path, schema: of, value: at } of places(schema, value).toReversed()) {
    if (of.type !== "object" || at === null || of.additionalProperties !== undefined) continue
    if (of["x-kubernetes-preserve-unknown-fields"] === true || tape.draw(2) === 0) continue
    const place = places(schema, out).find((one) => one.path === path)!
    out = place.replaced({ ...(place.value as object), typo: { deep: [1] } })
    dropped.push(path === "" ? "typo" : `${path}.typo`)
  }
  return { value: out, dropped }
}

const embedded: StructuralSchema = {
  type: "object",
  properties: {
    object: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
    free: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: { type: "string" } } } }
    }
  }
}

describe("Prune", () => {
  checkProperty("a value with known fields only is returned itself", cases, ({ schema, value }) => {
    const { dropped, value: pruned } = Prune.prune(schema, value)
    return pruned === value && dropped.length === 0
  })

  checkProperty("unknown fields are pruned and reported", cases, ({ more, schema, value }) => {
    const withUnknown = withUnknownFields(schema, value, more)
    const before = Lists.canonical(withUnknown.value)
    const { dropped, value: pruned } = Prune.prune(schema, withUnknown.value)
    return (
      same(pruned, value) &&
      same([...dropped].sort(), [...withUnknown.dropped].sort()) &&
      Lists.canonical(withUnknown.value) === before
    )
  })

  checkProperty("is idempotent", cases, ({ more, schema, value }) => {
    const other = schemaFrom(more)
    const once = Prune.prune(other, valueOf(schema, more)).value
    return Prune.prune(other, once).value === once && value !== undefined
  })

  checkProperty("apiVersion, kind and metadata of the object and of embedded resources are kept", tapes, (numbers) => {
    const object = { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: `${numbers.length}` } } }
    const given = { ...object, object: { ...object, spec: { x: 1 }, other: 1 }, apiversion: 1 }
    const { dropped, value } = Prune.prune(embedded, given)
    return (
      same(value, { ...object, object: { ...object, spec: {} } }) &&
      same(dropped, ["object.spec.x", "object.other", "apiversion"])
    )
  })

  checkProperty("known fields inside of preserved fields are pruned", tapes, (numbers) => {
    const { value } = Prune.prune(embedded, { free: { any: { b: numbers }, known: { a: "", b: "" } } })
    return same(value, { free: { any: { b: numbers }, known: { a: "" } } })
  })
})

/** The value without members that equal their default. */
const withoutDefaults = (schema: StructuralSchema, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => withoutDefaults(schema.items ?? {}, one))
  if (typeof value !== "object" || value === null) return value
  const out: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(value)) {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    const additional = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {}
    const of = (known ? schema.properties?.[name] : undefined) ?? additional
    if (known && of.default !== undefined && same(of.default, one)) continue
    Object.defineProperty(out, name, {
      value: withoutDefaults(of, one),
      enumerable: true,
      configurable: true,
      writable: true
    })
  }
  return out
}

describe("Default", () => {
  checkProperty("is idempotent, and does not change its argument", cases, ({ schema, value }) => {
    const once = Default.applyDefaults(schema, value)
    return Default.applyDefaults(schema, once) === once
  })

  checkProperty("the filled in value is valid", cases, ({ schema, value }) => {
    return Faults.faults(schema, Default.applyDefaults(schema, value), "").length === 0
  })

  checkProperty("a field that equals its default may be left out", cases, ({ schema, value }) => {
    const full = Default.applyDefaults(schema, value)
    const less = withoutDefaults(schema, full)
    const before = Lists.canonical(less)
    return same(Default.applyDefaults(schema, less), full) && Lists.canonical(less) === before
  })

  checkProperty("existing values are kept", cases, ({ schema, value }) => {
    const full = Default.applyDefaults(schema, value)
    const after = new Map(places(schema, full).map((one) => [one.path, one.value]))
    return places(schema, value).every(
      (one) => after.has(one.path) && (typeof one.value === "object" || one.value === after.get(one.path))
    )
  })

  checkProperty("a null that is not nullable is treated as absent", cases, ({ more, schema, value }) => {
    const all = places(schema, value).filter(
      (one) => one.path !== "" && !one.path.endsWith("]") && one.schema.nullable !== true
    )
    const place = all[more.draw(Math.max(1, all.length))]
    if (place === undefined) return true
    const nulled = places(schema, Default.applyDefaults(schema, place.replaced(null))).find(
      (one) => one.path === place.path
    )
    return same(nulled?.value, Default.applyDefaults(place.schema, place.schema.default))
  })
})

it("Default ignores a default of null, as the API server does", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: { a: { type: "string", nullable: true, default: null }, b: { type: "string", default: null } }
  }
  const stored: unknown = Default.applyDefaults(schema, { b: null })
  assert.deepStrictEqual(stored, {})
})

describe("Structure", () => {
  checkProperty("generated schemas are structural", cases, ({ schema }) => {
    return Check.structure(schema, "schema").length === 0 && Check.check(schema, "schema").length === 0
  })

  checkProperty("every field has a type", cases, ({ more, schema, value }) => {
    const all = places(schema, value).filter((one) => one.schema.type !== undefined)
    const place = all[more.draw(all.length)]!
    if (place.schema["x-kubernetes-preserve-unknown-fields"] === true) return true
    const { type: _, ...untyped } = place.schema
    const broken = replacedIn(schema, place.schema, untyped)
    return Check.structure(broken, "schema").some(
      (one) => one.field.endsWith("type") && one.reason === "FieldValueRequired"
    )
  })

  checkProperty("a narrowing schema declares no types and no new fields", cases, ({ more, schema }) => {
    const junction = more.pick("allOf", "anyOf", "oneOf")
    const narrowed = { ...schema, [junction]: [{ properties: { unheard: { maximum: 1 } } }] }
    const typed = { ...schema, [junction]: [{ type: "object" }] }
    return (
      Check.structure(narrowed, "schema").some(
        (one) =>
          one.field === "schema.properties[unheard]" &&
          one.message === `Required value: because it is defined in schema.${junction}[0].properties[unheard]`
      ) && Check.structure(typed, "schema").some((one) => one.field === `schema.${junction}[0].type`)
    )
  })

  checkProperty("a default has to be valid", cases, ({ more, schema, value }) => {
    const all = places(schema, value)
    const place = all[more.draw(all.length)]!
    const broken = replacedIn(schema, place.schema, { ...place.schema, default: wrongFor(place, more) })
    return Check.structure(broken, "schema").length > 0
  })
})

/** The schema with one of its inner schemas replaced. */
const replacedIn = (schema: StructuralSchema, found: StructuralSchema, by: StructuralSchema): StructuralSchema => {
  if (schema === found) return by
  const out: Record<string, unknown> = { ...schema }
  if (schema.items !== undefined) out["items"] = replacedIn(schema.items, found, by)
  if (typeof schema.additionalProperties === "object") {
    out["additionalProperties"] = replacedIn(schema.additionalProperties, found, by)
  }
  if (schema.properties !== undefined) {
    const properties: Record<string, unknown> = {}
    for (const [name, one] of Object.entries(schema.properties)) {
      const value = replacedIn(one, found, by)
      Object.defineProperty(properties, name, { value, enumerable: true, configurable: true, writable: true })
    }
    out["properties"] = properties
  }
  return out
}
