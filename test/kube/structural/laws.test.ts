import * as Arbitrary from "effect/Arbitrary"
import * as Default from "../../../src/kube/structural/applyDefaults.ts"
import * as Check from "../../../src/kube/structural/check.ts"
import * as Structure from "../../../src/kube/structural/check/structure.ts"
import * as Faults from "../../../src/kube/structural/faults.ts"
import * as Lists from "../../../src/kube/structural/lists.ts"
import * as Prune from "../../../src/kube/structural/prune.ts"
import type { Cause, StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import { law, prove } from "../../support/laws.ts"
import { places, schema as schemaFrom, Tape, tapes, valueOf } from "./generated.ts"
import type { Place } from "./generated.ts"

interface Case {
  readonly schema: StructuralSchema
  readonly value: unknown
  /** For whatever else is to be chosen. */
  readonly more: Tape
}

const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(tapes, (numbers) => {
  const tape = new Tape(numbers)
  const schema = schemaFrom(tape)
  return { schema, value: valueOf(schema, tape), more: tape }
})

const same = (a: unknown, b: unknown): boolean => Lists.canonical(a) === Lists.canonical(b)

/** A value that the place's own schema does not allow, and no default or null rule saves. */
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

prove({
  path: "kube/structural/faults.ts",
  module: Faults,
  laws: [
    law("a value that fits is not refused", cases, ({ faults }: typeof Faults, { schema, value }) => {
      return faults(schema, value, "").length === 0
    }),
    law(
      "a value that does not fit in one place is refused for it",
      cases,
      ({ faults }: typeof Faults, { more, schema, value }) =>
        places(schema, value).every((place) => {
          const causes = faults(schema, place.replaced(wrongFor(place, more)), "")
          const field = place.path === "" ? "<nil>" : place.path
          // A number beyond its format and what fits no alternative are told of with the object as a whole.
          const isOfPlace = (one: Cause) =>
            one.field === field || (one.field === "<nil>" && one.message.includes(place.path))
          return causes.length > 0 && causes.every(isOfPlace)
        })
    ),
    law("what is required and missing is told of", cases, ({ faults }: typeof Faults, { more, schema, value }) => {
      const all = places(schema, value).filter((one) => one.schema.required !== undefined && one.value !== null)
      const place = all[more.draw(Math.max(1, all.length))]
      if (place === undefined) return true
      const causes = faults(schema, place.replaced({}), "")
      return place.schema.required!.every((name) => {
        const field = place.path === "" ? name : `${place.path}.${name}`
        return causes.some((one) => one.field === field && one.message === "Required value")
      })
    }),
    law("null is refused where it is no value", cases, ({ faults }: typeof Faults, { more, schema, value }) => {
      const all = places(schema, value)
      const place = all[more.draw(all.length)]!
      const refused = faults(schema, place.replaced(null), "").length > 0
      return refused === (place.schema.nullable !== true)
    }),
    law("all, any, one and none of some schemas", cases, ({ faults }: typeof Faults, { more, schema, value }) => {
      const good: StructuralSchema = schema
      const bad: StructuralSchema = { type: "string" }
      const list = Array.from({ length: 1 + more.draw(3) }, () => more.pick(good, bad))
      const fitting = list.filter((one) => one === good).length
      const isFine = (one: StructuralSchema) => faults(one, value, "spec").length === 0
      return (
        isFine({ allOf: list }) === (fitting === list.length) &&
        isFine({ anyOf: list }) === fitting > 0 &&
        isFine({ oneOf: list }) === (fitting === 1) &&
        isFine({ not: list[0]! }) === (list[0] === bad)
      )
    })
  ],
  mutants: [
    { title: "a whole number is no number", find: `(type === "number" && found === "integer")`, replace: "false" },
    {
      title: "fractions are whole numbers",
      find: `Number.isInteger(value) ? "integer" : "number"`,
      replace: `"integer"`
    },
    { title: "the greatest is too great", find: "value > maximum", replace: "value >= maximum" },
    { title: "the least is too little", find: "value < minimum", replace: "value <= minimum" },
    { title: "the bound itself is within", find: "value <= minimum", replace: "value < minimum" },
    { title: "lengths are not limited", find: "length > maxLength", replace: "length > maxLength + 1" },
    { title: "no text is too short", find: "length < minLength", replace: "length < 0" },
    { title: "patterns are not looked at", find: "!compile(pattern).test(value)", replace: "false" },
    { title: "formats are not looked at", find: "!formats.meets(format, value)", replace: "false" },
    {
      title: "values outside of an enum",
      find: "!schema.enum.some(",
      replace: "schema.enum.length === 0 && !schema.enum.some("
    },
    { title: "int32 without an end", find: "(value < least || value > most)", replace: "false" },
    { title: "multiples are not looked at", find: "!isMultiple(value, multipleOf)", replace: "false" },
    { title: "elements are not looked into", find: "if (items !== undefined) for", replace: "if (items === null) for" },
    {
      title: "only members that are named",
      find: "propertyOf(schema, name) ?? additionalOf(schema)",
      replace: "propertyOf(schema, name)"
    },
    { title: "inherited members are there", find: "!Object.hasOwn(value, name)", replace: "!(name in value)" },
    { title: "nothing is required", find: "of required) if (", replace: "of required) if (name === '' && " },
    {
      title: "null is always a value",
      find: "if (schema.nullable === true) return undefined",
      replace: "return undefined"
    },
    {
      title: "an element has the path of its list",
      find: "look(items, one, `${path}[${index}]`, causes)",
      replace: "look(items, one, path, causes)"
    },
    { title: "any of none will do", find: "if (!found.some(isEmpty))", replace: "if (found.length === 0)" },
    { title: "one of two will do", find: "if (valid !== 1)", replace: "if (valid === 0)" },
    { title: "what must not fit may fit", find: "isEmpty(faults(not, value, path))", replace: "false" },
    {
      title: "int or string may be anything",
      find: `found === "integer" || found === "string" ? undefined`,
      replace: `found !== "" ? undefined`
    }
  ]
})

/** The value with members of names that no schema has, wherever a schema looks. */
const littered = (schema: StructuralSchema, value: unknown, tape: Tape) => {
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

prove({
  path: "kube/structural/prune.ts",
  module: Prune,
  laws: [
    law("what is known stays, as the very same value", cases, ({ prune }: typeof Prune, { schema, value }) => {
      const { dropped, value: pruned } = prune(schema, value)
      return pruned === value && dropped.length === 0
    }),
    law("what is not known goes, and is told of", cases, ({ prune }: typeof Prune, { more, schema, value }) => {
      const litter = littered(schema, value, more)
      const before = Lists.canonical(litter.value)
      const { dropped, value: pruned } = prune(schema, litter.value)
      return (
        same(pruned, value) &&
        same([...dropped].sort(), [...litter.dropped].sort()) &&
        Lists.canonical(litter.value) === before
      )
    }),
    law("doing it twice is doing it once", cases, ({ prune }: typeof Prune, { more, schema, value }) => {
      const other = schemaFrom(more)
      const once = prune(other, valueOf(schema, more)).value
      return prune(other, once).value === once && value !== undefined
    }),
    law("every object of the API has metadata", tapes, ({ prune }: typeof Prune, numbers) => {
      const object = { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: `${numbers.length}` } } }
      const given = { ...object, object: { ...object, spec: { x: 1 }, other: 1 }, apiversion: 1 }
      const { dropped, value } = prune(embedded, given)
      return (
        same(value, { ...object, object: { ...object, spec: {} } }) &&
        same(dropped, ["object.spec.x", "object.other", "apiversion"])
      )
    }),
    law("what is known inside of what is preserved is pruned", tapes, ({ prune }: typeof Prune, numbers) => {
      const { value } = prune(embedded, { free: { any: { b: numbers }, known: { a: "", b: "" } } })
      return same(value, { free: { any: { b: numbers }, known: { a: "" } } })
    })
  ],
  mutants: [
    {
      title: "nothing is dropped",
      find: "place.dropped.push(path)\n      same = false",
      replace: "put(out, name, before)"
    },
    { title: "what is dropped is not told of", find: "place.dropped.push(path)\n", replace: "\n" },
    { title: "nothing is preserved", find: "else if (keeps) put(out, name, before)", replace: "" },
    {
      title: "what is preserved is not looked into",
      find: "else if (schema !== undefined && knows(schema, name))",
      replace: "else if (schema !== undefined && !keeps && knows(schema, name))"
    },
    {
      title: "metadata is not known",
      find: `new Set(["apiVersion", "kind", "metadata"])`,
      replace: `new Set(["apiVersion", "kind"])`
    },
    {
      title: "embedded objects are like others",
      find: `if (schema?.["x-kubernetes-embedded-resource"] === true)`,
      replace: "if (schema === null)"
    },
    { title: "maps know no names", find: "additionalOf(schema) !== undefined ||", replace: "" },
    {
      title: "elements are not looked into",
      find: "value.map((one, index) => pruneAny(items, one, `${path}[${index}]`, dropped))",
      replace: "value.map((one) => one)"
    },
    { title: "everything is copied", find: "return same ? value : out", replace: "return out" }
  ]
})

/** The value without what has a default, wherever leaving it out is allowed. */
const stripped = (schema: StructuralSchema, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => stripped(schema.items ?? {}, one))
  if (typeof value !== "object" || value === null) return value
  const out: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(value)) {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    const additional = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {}
    const of = (known ? schema.properties?.[name] : undefined) ?? additional
    if (known && of.default !== undefined && same(of.default, one)) continue
    Object.defineProperty(out, name, { value: stripped(of, one), enumerable: true, configurable: true, writable: true })
  }
  return out
}

prove({
  path: "kube/structural/applyDefaults.ts",
  module: Default,
  laws: [
    law(
      "doing it twice is doing it once, and changes nothing",
      cases,
      ({ applyDefaults }: typeof Default, { schema, value }) => {
        const once = applyDefaults(schema, value)
        return applyDefaults(schema, once) === once
      }
    ),
    law("what is filled in fits", cases, ({ applyDefaults }: typeof Default, { schema, value }) => {
      return Faults.faults(schema, applyDefaults(schema, value), "").length === 0
    }),
    law("what equals its default may be left out", cases, ({ applyDefaults }: typeof Default, { schema, value }) => {
      const full = applyDefaults(schema, value)
      const less = stripped(schema, full)
      const before = Lists.canonical(less)
      return same(applyDefaults(schema, less), full) && Lists.canonical(less) === before
    }),
    law("what is there stays", cases, ({ applyDefaults }: typeof Default, { schema, value }) => {
      const full = applyDefaults(schema, value)
      const after = new Map(places(schema, full).map((one) => [one.path, one.value]))
      return places(schema, value).every(
        (one) => after.has(one.path) && (typeof one.value === "object" || one.value === after.get(one.path))
      )
    }),
    law(
      "null that is no value is as if it were not there",
      cases,
      ({ applyDefaults }: typeof Default, { more, schema, value }) => {
        const all = places(schema, value).filter(
          (one) => one.path !== "" && !one.path.endsWith("]") && one.schema.nullable !== true
        )
        const place = all[more.draw(Math.max(1, all.length))]
        if (place === undefined) return true
        const nulled = places(schema, applyDefaults(schema, place.replaced(null))).find(
          (one) => one.path === place.path
        )
        return same(nulled?.value, applyDefaults(place.schema, place.schema.default))
      }
    )
  ],
  mutants: [
    { title: "no defaults", find: "put(out, name, fill(of, of.default))", replace: "put(out, name, undefined)" },
    {
      title: "defaults of defaults are left out",
      find: "put(out, name, fill(of, of.default))",
      replace: "put(out, name, structuredClone(of.default) && of.default !== undefined ? null : of.default)"
    },
    {
      title: "what is there is replaced",
      find: "|| member(value, name) !== undefined) continue",
      replace: ") continue"
    },
    {
      title: "null stays",
      find: "isAbsent(before, of) ? fill(of, of?.default) : fill(of, before)",
      replace: "fill(of, before)"
    },
    {
      title: "null goes though there is a default",
      find: "isAbsent(before, of) ? fill(of, of?.default)",
      replace: "isAbsent(before, of) ? undefined"
    },
    {
      title: "the value that was given is changed",
      find: "out ??= copy(value)\n    put(out, name, fill",
      replace: "out ??= value as Record<string, unknown>\n    put(out, name, fill"
    },
    {
      title: "maps are not looked into",
      find: "propertyOf(schema, name) ?? additionalOf(schema)",
      replace: "propertyOf(schema, name)"
    }
  ]
})

prove({
  path: "kube/structural/check/structure.ts",
  module: Structure,
  laws: [
    law("generated schemas are structural", cases, ({ structure }: typeof Structure, { schema }) => {
      return structure(schema, "schema").length === 0 && Check.check(schema, "schema").length === 0
    }),
    law("every field has a type", cases, ({ structure }: typeof Structure, { more, schema, value }) => {
      const all = places(schema, value).filter((one) => one.schema.type !== undefined)
      const place = all[more.draw(all.length)]!
      if (place.schema["x-kubernetes-preserve-unknown-fields"] === true) return true
      const { type: _, ...untyped } = place.schema
      const broken = replacedIn(schema, place.schema, untyped)
      return structure(broken, "schema").some(
        (one) => one.field.endsWith("type") && one.reason === "FieldValueRequired"
      )
    }),
    law(
      "what narrows says no types and names nothing new",
      cases,
      ({ structure }: typeof Structure, { more, schema }) => {
        const junction = more.pick("allOf", "anyOf", "oneOf")
        const narrowed = { ...schema, [junction]: [{ properties: { unheard: { maximum: 1 } } }] }
        const typed = { ...schema, [junction]: [{ type: "object" }] }
        return (
          structure(narrowed, "schema").some(
            (one) =>
              one.field === "schema.properties[unheard]" &&
              one.message === `Required value: because it is defined in schema.${junction}[0].properties[unheard]`
          ) && structure(typed, "schema").some((one) => one.field === `schema.${junction}[0].type`)
        )
      }
    ),
    law("a default is a value that fits", cases, ({ structure }: typeof Structure, { more, schema, value }) => {
      const all = places(schema, value)
      const place = all[more.draw(all.length)]!
      const broken = replacedIn(schema, place.schema, { ...place.schema, default: wrongFor(place, more) })
      return structure(broken, "schema").length > 0
    })
  ],
  mutants: [
    {
      title: "types may be left out",
      find: "causes.push(words.required(`${path}.type`, missing[level]))",
      replace: ""
    },
    { title: "narrowings may say types", find: `["type", "must be empty to be structural"],`, replace: "" },
    {
      title: "narrowings may name what is not there",
      find: "if (schema === undefined) {",
      replace: "if (schema === null || schema === undefined) {\n    return\n  }\n  if (schema === undefined) {"
    },
    {
      title: "defaults are not looked at",
      find: "if (schema.default !== undefined) defaulted(schema, path, causes)",
      replace: ""
    },
    {
      title: "members are not looked into",
      find: "for (const [name, one] of Object.entries(schema.properties ?? {})) {\n    look",
      replace: "for (const [name, one] of Object.entries({} as Record<string, StructuralSchema>)) {\n    look"
    },
    {
      title: "a list of integers or strings is no integer or string",
      find: "(isIntOrString(schema) ? []",
      replace: "(schema === undefined ? []"
    }
  ]
})

/** The schema with one of those inside of it replaced, wherever it is. */
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
