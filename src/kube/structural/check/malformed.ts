/**
 * Whether a JSON value has the shape of a schema at all: each member has the right type. Checked first, so that all other checks can rely
 * on the types. Unknown members are ignored, because the server drops them. Null has no type, and is refused.
 */
import { isMembers } from "../StructuralSchema.ts"
import type { Cause, Members } from "../StructuralSchema.ts"
import { typeInvalid } from "../fieldErrors.ts"

type Shape = "boolean" | "list" | "map" | "number" | "schema" | "schemaOrFlag" | "schemas" | "string" | "strings"

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    additionalProperties: "schemaOrFlag",
    allOf: "schemas",
    anyOf: "schemas",
    description: "string",
    enum: "list",
    exclusiveMaximum: "boolean",
    exclusiveMinimum: "boolean",
    format: "string",
    items: "schema",
    maxItems: "number",
    maxLength: "number",
    maxProperties: "number",
    maximum: "number",
    minItems: "number",
    minLength: "number",
    minProperties: "number",
    minimum: "number",
    multipleOf: "number",
    not: "schema",
    nullable: "boolean",
    oneOf: "schemas",
    pattern: "string",
    properties: "map",
    required: "strings",
    title: "string",
    type: "string",
    uniqueItems: "boolean",
    "x-kubernetes-embedded-resource": "boolean",
    "x-kubernetes-int-or-string": "boolean",
    "x-kubernetes-list-map-keys": "strings",
    "x-kubernetes-list-type": "string",
    "x-kubernetes-map-type": "string",
    "x-kubernetes-preserve-unknown-fields": "boolean",
    "x-kubernetes-validations": "list"
  } satisfies Record<string, Shape>)
)

/** A cause for each member of a wrong type. */
export const malformed = (schema: unknown, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  visit(schema, path, causes)
  return causes
}

const visit = (schema: unknown, path: string, causes: Array<Cause>): void => {
  if (!isMembers(schema)) causes.push(typeInvalid(path, schema, "must be a schema"))
  else for (const [name, shape] of shapes) visitMember(schema, name, { path, shape, causes })
}

interface Place {
  readonly path: string
  readonly shape: Shape
  readonly causes: Array<Cause>
}

const visitMember = (schema: Members, name: string, { causes, path, shape }: Place): void => {
  const value = Object.hasOwn(schema, name) ? schema[name] : undefined
  if (value === undefined) return
  const field = `${path}.${name}`
  if (shape === "schema" || (shape === "schemaOrFlag" && typeof value !== "boolean")) return visit(value, field, causes)
  if (!hasShape[shape](value)) causes.push(typeInvalid(field, value, `must be ${shapeNames[shape]}`))
  else if (shape === "schemas" && Array.isArray(value)) {
    for (const [index, one] of value.entries()) visit(one, `${field}[${index}]`, causes)
  } else if (shape === "map" && isMembers(value)) {
    for (const key of Object.keys(value)) visit(value[key], `${field}[${key}]`, causes)
  }
}

const hasShape: Readonly<Record<Shape, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === "boolean",
  list: Array.isArray,
  map: isMembers,
  number: (value) => typeof value === "number",
  schema: isMembers,
  schemaOrFlag: (value) => typeof value === "boolean" || isMembers(value),
  schemas: Array.isArray,
  string: (value) => typeof value === "string",
  strings: (value) => Array.isArray(value) && value.every((one) => typeof one === "string")
}

const shapeNames: Readonly<Record<Shape, string>> = {
  boolean: "a boolean",
  list: "an array",
  map: "an object",
  number: "a number",
  schema: "a schema",
  schemaOrFlag: "a schema or a boolean",
  schemas: "an array",
  string: "a string",
  strings: "an array of strings"
}
