/**
 * Whether the API server accepts a schema for a custom resource: it is structural, and has nothing that is forbidden. Errors have the
 * server's messages, with the path in the CustomResourceDefinition. Total: a schema may be any JSON.
 * Source: apiextensions-apiserver, schema and apis/apiextensions/validation.
 */
import { forbidden } from "./check/forbidden.ts"
import { malformed } from "./check/malformed.ts"
import { applyDefaults } from "./applyDefaults.ts"
import { canonical } from "./lists.ts"
import { prune } from "./prune.ts"
import { additionalOf, indexed, propertyOf } from "./StructuralSchema.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"
import { faults } from "./validate.ts"
import * as fieldErrors from "./fieldErrors.ts"

/** Everything that the server would refuse; empty for a schema that it accepts. `path` is that of the schema. */
export const check = (schema: unknown, path: string): ReadonlyArray<Cause> => {
  const wrong = malformed(schema, path)
  if (wrong.length > 0) return wrong
  const read = schema as StructuralSchema
  const prohibited = forbidden(read, path)
  // A schema with forbidden members is not checked for being structural.
  return prohibited.length > 0 ? prohibited : structure(read, path)
}

type Level = "field" | "item" | "root"

/**
 * Whether a schema is structural: every field has a type, declared once and outside of `allOf`, `anyOf`, `oneOf` and `not`, which only
 * narrow it; and every default fits the schema itself. Source: apiextensions-apiserver, schema.ValidateStructural.
 */
export const structure = (schema: StructuralSchema, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  visit(schema, "root", path, causes)
  return causes
}

const visit = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  checkType(schema, level, path, causes)
  checkEmbedded(schema, path, causes)
  if (level === "root" || schema["x-kubernetes-embedded-resource"] === true)
    checkKnownMembers(schema, level, path, causes)
  if (level === "root" && schema.additionalProperties !== undefined) {
    causes.push(fieldErrors.forbidden(`${path}.additionalProperties`, "must not be used at the root"))
  }
  if (schema["x-kubernetes-int-or-string"] === true) checkIntOrString(schema, path, causes)
  for (const [name, one] of narrowings(schema)) {
    checkNested(one, `${path}.${name}`, causes)
    checkDeclared({ narrowing: one, at: `${path}.${name}` }, schema, path, causes)
  }
  if (schema.default !== undefined) checkDefault(schema, path, causes)
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    visit(one, "field", `${path}.properties[${name}]`, causes)
  }
  if (schema.items !== undefined) visit(schema.items, "item", `${path}.items`, causes)
  const additional = additionalOf(schema)
  if (additional !== undefined) visit(additional, "field", `${path}.additionalProperties`, causes)
}

const missing: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields"
}

const checkType = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  const { items, type } = schema
  if (type === "array" && items === undefined) causes.push(fieldErrors.required(`${path}.items`, "must be specified"))
  const isFree =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true
  if ((type === undefined || (type as string) === "") && !isFree && !isEmbedded) {
    causes.push(fieldErrors.required(`${path}.type`, missing[level]))
  } else if (level === "root" && type !== undefined && type !== "object") {
    causes.push(fieldErrors.invalid(`${path}.type`, type, "must be object at the root"))
  }
}

const checkEmbedded = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  if (schema["x-kubernetes-embedded-resource"] !== true) return
  const { properties = {}, type } = schema
  if (type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true"
    causes.push(
      type === undefined
        ? fieldErrors.required(`${path}.type`, detail)
        : fieldErrors.invalid(`${path}.type`, type, detail)
    )
  }
  if (schema.additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set"
    causes.push(fieldErrors.forbidden(`${path}.additionalProperties`, detail))
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true && Object.keys(properties).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
    causes.push(fieldErrors.required(`${path}.properties`, detail))
  }
}

/** The members that every object of the API has have fixed types. */
const checkKnownMembers = (schema: StructuralSchema, level: Level, path: string, causes: Array<Cause>): void => {
  for (const name of ["kind", "apiVersion"]) {
    const of = propertyOf(schema, name)
    if (of !== undefined && of.type !== "string") {
      causes.push(fieldErrors.invalid(`${path}.properties[${name}].type`, of.type ?? "", "must be string"))
    }
  }
  const metadata = propertyOf(schema, "metadata")
  if (metadata === undefined) return
  const field = `${path}.properties[metadata]`
  if (metadata.type !== "object")
    causes.push(fieldErrors.invalid(`${field}.type`, metadata.type ?? "", "must be object"))
  if (level !== "root") return
  const { description: _, properties = {}, type: _type, ...rest } = metadata
  const others = Object.keys(properties).filter((name) => name !== "name" && name !== "generateName")
  if (others.length === 0 && Object.keys(rest).length === 0) return
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
  causes.push(fieldErrors.forbidden(field, detail))
}

const checkIntOrString = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[name] !== true) continue
    causes.push(fieldErrors.invalid(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"))
  }
}

/** The schemas in `allOf`, `anyOf`, `oneOf` and `not`, by path; without the `anyOf` that repeats `x-kubernetes-int-or-string`. */
const narrowings = (schema: StructuralSchema): ReadonlyArray<readonly [string, StructuralSchema]> => {
  const { allOf, anyOf, not, oneOf } = schema
  return [
    ...(isIntOrString(schema) ? [] : indexed("anyOf", anyOf)),
    ...indexed("allOf", allOf),
    ...indexed("oneOf", oneOf),
    ...(not === undefined ? [] : [["not", not] as const])
  ]
}

const integerOrString = canonical([{ type: "integer" }, { type: "string" }])

const isIntOrString = ({ anyOf }: StructuralSchema): boolean =>
  anyOf !== undefined && canonical(anyOf) === integerOrString

/** The members that a narrowing schema must not have, and the message. */
const forbiddenInside: ReadonlyArray<readonly [keyof StructuralSchema, string]> = [
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

const checkNested = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  for (const [name, detail] of forbiddenInside) {
    const value = schema[name]
    if (value !== undefined && value !== false && value !== "")
      causes.push(fieldErrors.forbidden(`${path}.${name}`, detail))
  }
  if (propertyOf(schema, "metadata") !== undefined) {
    causes.push(fieldErrors.forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"))
  }
  for (const [name, one] of inner(schema)) checkNested(one, `${path}.${name}`, causes)
}

/** What is inside of a narrowing schema: further ones, of the same value and of its parts. */
const inner = (schema: StructuralSchema): ReadonlyArray<readonly [string, StructuralSchema]> => [
  ...narrowings(schema),
  ...Object.entries(schema.properties ?? {}).map(([name, one]) => [`properties[${name}]`, one] as const),
  ...(schema.items === undefined ? [] : [["items", schema.items] as const])
]

interface Narrowing {
  readonly narrowing: StructuralSchema
  readonly at: string
}

/** Every field that a narrowing schema names has to be declared outside of it. */
const checkDeclared = (
  { at, narrowing }: Narrowing,
  schema: StructuralSchema | undefined,
  path: string,
  causes: Array<Cause>
): void => {
  if (schema === undefined) {
    causes.push(fieldErrors.required(path, `because it is defined in ${at}`))
    return
  }
  for (const [name, one] of narrowings(narrowing)) {
    checkDeclared({ narrowing: one, at: `${at}.${name}` }, schema, path, causes)
  }
  if (narrowing.items !== undefined) {
    checkDeclared({ narrowing: narrowing.items, at: `${at}.items` }, schema.items, `${path}.items`, causes)
  }
  for (const [name, one] of Object.entries(narrowing.properties ?? {})) {
    const place = `properties[${name}]`
    checkDeclared({ narrowing: one, at: `${at}.${place}` }, propertyOf(schema, name), `${path}.${place}`, causes)
  }
}

/** A default is stored as it is, so it has to be a value that the server would have stored. */
const checkDefault = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  const field = `${path}.default`
  const filled = applyDefaults(schema, schema.default)
  // As a member, so that its errors have a path.
  const { dropped } = prune({ properties: { default: schema } }, { default: filled })
  if (dropped.length > 0) causes.push(fieldErrors.invalid(field, schema.default, "must not have unknown fields"))
  for (const cause of faults(schema, filled, field)) causes.push(cause)
}
