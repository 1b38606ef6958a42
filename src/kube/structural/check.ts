/**
 * Whether a schema is one that the API server accepts for a custom resource: structural, and without what it forbids. What is wrong is
 * reported in the server's words, with the path inside of the CustomResourceDefinition. Total: a schema may be any JSON.
 * Source: apiextensions-apiserver, schema and apis/apiextensions/validation.
 */
import { forbidden } from "./check/forbidden.ts"
import { malformed } from "./check/malformed.ts"
import { applyDefaults } from "./applyDefaults.ts"
import { canonical } from "./lists.ts"
import { prune } from "./prune.ts"
import { additionalOf, propertyOf } from "./StructuralSchema.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"
import { faults } from "./validate.ts"
import * as words from "./words.ts"

/** Everything that the server would refuse; none for a schema it takes. The path is where the schema stands. */
export const check = (schema: unknown, path: string): ReadonlyArray<Cause> => {
  const wrong = malformed(schema, path)
  if (wrong.length > 0) return wrong
  const read = schema as StructuralSchema
  const strange = forbidden(read, path)
  // What is not of the API is not checked for being structural.
  return strange.length > 0 ? strange : structure(read, path)
}

type Level = "field" | "item" | "root"

/**
 * Whether a schema is structural: every field has a type, said once and outside of `allOf`, `anyOf`, `oneOf` and `not`, which only narrow what is
 * said elsewhere; and every default is a value that the schema itself allows. Source: apiextensions-apiserver, schema.ValidateStructural.
 */
export const structure = (schema: StructuralSchema, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  look(schema, "root", path, causes)
  return causes
}

const look = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  typed(schema, level, path, causes)
  embedded(schema, path, causes)
  if (level === "root" || schema["x-kubernetes-embedded-resource"] === true) known(schema, level, path, causes)
  if (level === "root" && schema.additionalProperties !== undefined) {
    causes.push(words.forbidden(`${path}.additionalProperties`, "must not be used at the root"))
  }
  if (schema["x-kubernetes-int-or-string"] === true) intOrString(schema, path, causes)
  for (const [name, one] of narrowings(schema)) {
    nested(one, `${path}.${name}`, causes)
    complete({ narrowing: one, at: `${path}.${name}` }, schema, path, causes)
  }
  if (schema.default !== undefined) defaulted(schema, path, causes)
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    look(one, "field", `${path}.properties[${name}]`, causes)
  }
  if (schema.items !== undefined) look(schema.items, "item", `${path}.items`, causes)
  const additional = additionalOf(schema)
  if (additional !== undefined) look(additional, "field", `${path}.additionalProperties`, causes)
}

const missing: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields"
}

const typed = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  const { items, type } = schema
  if (type === "array" && items === undefined) causes.push(words.required(`${path}.items`, "must be specified"))
  const isFree =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true
  if ((type === undefined || (type as string) === "") && !isFree && !isEmbedded) {
    causes.push(words.required(`${path}.type`, missing[level]))
  } else if (level === "root" && type !== undefined && type !== "object") {
    causes.push(words.invalid(`${path}.type`, type, "must be object at the root"))
  }
}

const embedded = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  if (schema["x-kubernetes-embedded-resource"] !== true) return
  const { properties = {}, type } = schema
  if (type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true"
    causes.push(
      type === undefined ? words.required(`${path}.type`, detail) : words.invalid(`${path}.type`, type, detail)
    )
  }
  if (schema.additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set"
    causes.push(words.forbidden(`${path}.additionalProperties`, detail))
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true && Object.keys(properties).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
    causes.push(words.required(`${path}.properties`, detail))
  }
}

/** Members that every object of the API has, whatever its schema says. */
const known = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  for (const name of ["kind", "apiVersion"]) {
    const of = propertyOf(schema, name)
    if (of !== undefined && of.type !== "string") {
      causes.push(words.invalid(`${path}.properties[${name}].type`, of.type ?? "", "must be string"))
    }
  }
  const metadata = propertyOf(schema, "metadata")
  if (metadata === undefined) return
  const field = `${path}.properties[metadata]`
  if (metadata.type !== "object") causes.push(words.invalid(`${field}.type`, metadata.type ?? "", "must be object"))
  if (level !== "root") return
  const { description: _, properties = {}, type: _type, ...rest } = metadata
  const others = Object.keys(properties).filter((name) => name !== "name" && name !== "generateName")
  if (others.length === 0 && Object.keys(rest).length === 0) return
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
  causes.push(words.forbidden(field, detail))
}

const intOrString = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[name] !== true) continue
    causes.push(words.invalid(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"))
  }
}

/** The schemas that only narrow a value, by their place; but not the two that say again that a value is an integer or a string. */
const narrowings = (schema: StructuralSchema): ReadonlyArray<readonly [string, StructuralSchema]> => {
  const { allOf = [], anyOf = [], not, oneOf = [] } = schema
  return [
    ...(isIntOrString(schema) ? [] : anyOf.map((one, index) => [`anyOf[${index}]`, one] as const)),
    ...allOf.map((one, index) => [`allOf[${index}]`, one] as const),
    ...oneOf.map((one, index) => [`oneOf[${index}]`, one] as const),
    ...(not === undefined ? [] : [["not", not] as const])
  ]
}

const intThenString = canonical([{ type: "integer" }, { type: "string" }])

const isIntOrString = ({ anyOf }: StructuralSchema): boolean =>
  anyOf !== undefined && canonical(anyOf) === intThenString

/** What a narrowing may not say, and how it is refused. */
const outside: ReadonlyArray<readonly [keyof StructuralSchema, string]> = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["externalDocs", "must be undefined to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"]
]

const nested = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  for (const [name, detail] of outside) {
    const value = schema[name]
    if (value !== undefined && value !== false && value !== "") causes.push(words.forbidden(`${path}.${name}`, detail))
  }
  if (propertyOf(schema, "metadata") !== undefined) {
    causes.push(words.forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"))
  }
  for (const [name, one] of inner(schema)) nested(one, `${path}.${name}`, causes)
}

/** What is inside of a narrowing: further narrowings, of the same value and of its parts. */
const inner = (schema: StructuralSchema): ReadonlyArray<readonly [string, StructuralSchema]> => [
  ...narrowings(schema),
  ...Object.entries(schema.properties ?? {}).map(([name, one]) => [`properties[${name}]`, one] as const),
  ...(schema.items === undefined ? [] : [["items", schema.items] as const])
]

interface Narrowing {
  readonly narrowing: StructuralSchema
  readonly at: string
}

/** Whatever a narrowing speaks of has to be there outside of it. */
const complete = (
  { at, narrowing }: Narrowing,
  schema: StructuralSchema | undefined,
  path: string,
  causes: Array<Cause>
): void => {
  if (schema === undefined) {
    causes.push(words.required(path, `because it is defined in ${at}`))
    return
  }
  for (const [name, one] of narrowings(narrowing)) {
    complete({ narrowing: one, at: `${at}.${name}` }, schema, path, causes)
  }
  if (narrowing.items !== undefined) {
    complete({ narrowing: narrowing.items, at: `${at}.items` }, schema.items, `${path}.items`, causes)
  }
  for (const [name, one] of Object.entries(narrowing.properties ?? {})) {
    const place = `properties[${name}]`
    complete({ narrowing: one, at: `${at}.${place}` }, propertyOf(schema, name), `${path}.${place}`, causes)
  }
}

/** A default is stored as it is, so it has to be a value that would have been stored. */
const defaulted = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  const field = `${path}.default`
  const filled = applyDefaults(schema, schema.default)
  // As a member, so that its errors have a path.
  const { dropped } = prune({ properties: { default: schema } }, { default: filled })
  if (dropped.length > 0) causes.push(words.invalid(field, schema.default, "must not have unknown fields"))
  for (const cause of faults(schema, filled, field)) causes.push(cause)
}
