/**
 * The parts of JSON schema that the API does not accept, and the places where its own extensions may be. Looks at every schema inside of a
 * schema, each with its items. Source: apiextensions-apiserver, apis/apiextensions/validation.
 */
import { compile } from "../pattern.ts"
import { additionalOf, indexed, member } from "../StructuralSchema.ts"
import type { Cause, StructuralSchema } from "../StructuralSchema.ts"
import * as fieldErrors from "../fieldErrors.ts"

const types = ["array", "boolean", "integer", "number", "object", "string"]
const listTypes = ["atomic", "map", "set"]
const mapTypes = ["atomic", "granular"]

export const forbidden = (schema: StructuralSchema, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  visit(schema, path, causes)
  return causes
}

const visit = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  checkSupported(schema, path, causes)
  checkExtensions(schema, path, causes)
  if (schema["x-kubernetes-list-type"] === "map") checkMapList(schema, path, causes)
  if (schema["x-kubernetes-list-type"] === "set") checkSetList(schema, path, causes)
  for (const [name, one] of children(schema)) visit(one, `${path}.${name}`, causes)
}

/** Every schema directly inside of another, by the path it has there. */
export const children = (schema: StructuralSchema): ReadonlyArray<readonly [string, StructuralSchema]> => {
  const { allOf, anyOf, items, not, oneOf, properties = {} } = schema
  const additional = additionalOf(schema)
  return [
    ...Object.keys(properties).flatMap((name) => {
      const one = properties[name]
      return one === undefined ? [] : [[`properties[${name}]`, one] as const]
    }),
    ...(items === undefined ? [] : [["items", items] as const]),
    ...(additional === undefined ? [] : [["additionalProperties", additional] as const]),
    ...indexed("allOf", allOf),
    ...indexed("anyOf", anyOf),
    ...indexed("oneOf", oneOf),
    ...(not === undefined ? [] : [["not", not] as const])
  ]
}

/** Members of JSON schema that the API does not accept, and its messages. */
const unsupportedMembers: ReadonlyArray<readonly [string, string]> = [
  ["$ref", "$ref is not supported"],
  ["additionalItems", "additionalItems is not supported"],
  ["definitions", "definitions is not supported"],
  ["dependencies", "dependencies is not supported"],
  ["id", "id is not supported"],
  ["patternProperties", "patternProperties is not supported"]
]

const checkSupported = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  for (const [name, detail] of unsupportedMembers) {
    if (member({ ...schema }, name) !== undefined) causes.push(fieldErrors.forbidden(`${path}.${name}`, detail))
  }
  const type: string | undefined = schema.type
  if (type === "null") {
    causes.push(fieldErrors.forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"))
  } else if (type !== undefined && type !== "" && !types.includes(type)) {
    causes.push(fieldErrors.notSupported(`${path}.type`, type, types))
  }
  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
    causes.push(fieldErrors.forbidden(`${path}.uniqueItems`, detail))
  }
  const { additionalProperties, properties = {} } = schema
  const both = Object.keys(properties).length > 0 && additionalProperties !== undefined && additionalProperties !== true
  if (both) {
    const detail = "additionalProperties and properties are mutual exclusive"
    causes.push(fieldErrors.forbidden(`${path}.additionalProperties`, detail))
  }
  const problem = schema.pattern === undefined ? undefined : compile(schema.pattern).problem
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${problem}`
    causes.push(fieldErrors.invalid(`${path}.pattern`, schema.pattern ?? "", detail))
  }
}

const checkExtensions = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  const listType = schema["x-kubernetes-list-type"]
  const mapType = schema["x-kubernetes-map-type"]
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    causes.push(fieldErrors.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"))
  }
  if (mapType !== undefined) {
    if (schema.type !== "object") {
      causes.push(wrongType(schema, path, "must be object if x-kubernetes-map-type is specified"))
    }
    if (!mapTypes.includes(mapType))
      causes.push(fieldErrors.notSupported(`${path}.x-kubernetes-map-type`, mapType, mapTypes))
  }
  const field = `${path}.x-kubernetes-list-type`
  if (listType !== undefined) {
    if (schema.type !== "array") {
      causes.push(wrongType(schema, path, "must be array if x-kubernetes-list-type is specified"))
    }
    if (!listTypes.includes(listType)) causes.push(fieldErrors.notSupported(field, listType, listTypes))
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty"
    causes.push(
      listType === undefined ? fieldErrors.required(field, detail) : fieldErrors.invalid(field, listType, detail)
    )
  }
}

/** The type is not the one that an extension requires. */
const wrongType = (schema: StructuralSchema, path: string, detail: string): Cause =>
  schema.type === undefined
    ? fieldErrors.required(`${path}.type`, detail)
    : fieldErrors.invalid(`${path}.type`, schema.type, detail)

const checkMapList = (schema: StructuralSchema, path: string, causes: Array<Cause>): void => {
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  const field = `${path}.x-kubernetes-list-map-keys`
  if (keys.length === 0) causes.push(fieldErrors.required(field, "must not be empty if x-kubernetes-list-type is map"))
  if (new Set(keys).size < keys.length)
    causes.push(fieldErrors.invalid(field, keys, "must not contain duplicate entries"))
  const { items } = schema
  if (items === undefined) {
    causes.push(fieldErrors.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"))
    return
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    causes.push(fieldErrors.invalid(`${path}.items.type`, items.type ?? "", detail))
  }
  for (const key of new Set(keys)) checkKeyMember({ items, key, keys, field }, `${path}.items`, causes)
}

interface KeyMember {
  readonly items: StructuralSchema
  readonly key: string
  readonly keys: ReadonlyArray<string>
  readonly field: string
}

const checkKeyMember = ({ field, items, key, keys }: KeyMember, path: string, causes: Array<Cause>): void => {
  const of = items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined
  if (of === undefined) {
    causes.push(fieldErrors.invalid(field, keys, "entries must all be names of item properties"))
    return
  }
  const place = `${path}.properties[${key}]`
  if (of.type === "array" || of.type === "object") {
    const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
    causes.push(fieldErrors.invalid(`${place}.type`, of.type, detail))
  }
  if (of.default === undefined && items.required?.includes(key) !== true) {
    const detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
    causes.push(fieldErrors.required(`${place}.default`, detail))
  }
  if (of.nullable === true) {
    const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
    causes.push(fieldErrors.forbidden(`${place}.nullable`, detail))
  }
}

const checkSetList = ({ items }: StructuralSchema, path: string, causes: Array<Cause>): void => {
  if (items === undefined) {
    causes.push(fieldErrors.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is set"))
    return
  }
  if (items.nullable === true) {
    const detail = "cannot be nullable when x-kubernetes-list-type is set"
    causes.push(fieldErrors.forbidden(`${path}.items.nullable`, detail))
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    causes.push(
      fieldErrors.invalid(`${path}.items.x-kubernetes-map-type`, items["x-kubernetes-map-type"] ?? null, detail)
    )
  }
  const listType = items["x-kubernetes-list-type"] ?? "atomic"
  if (items.type === "array" && listType !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    causes.push(fieldErrors.invalid(`${path}.items.x-kubernetes-list-type`, listType, detail))
  }
}
