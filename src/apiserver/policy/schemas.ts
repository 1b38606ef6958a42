/**
 * What is known of the fields of a kind, for the checks of a policy's types: the schema of a custom resource, or the type table of a built-in one.
 * Values of any form, and types inside of themselves, are dynamic. Source: apiserver/pkg/cel/openapi/resolver.
 */
import type { SchemaDeclaration } from "../../kube/cel/Cel.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as types from "../scheme/types.ts"

/** Expressions see such values as dynamic. */
const anything: StructuralSchema = { "x-kubernetes-int-or-string": true }

const text = (format: string): StructuralSchema => ({ type: "string", format })

const scalars: Readonly<Record<types.Scalar, StructuralSchema>> = {
  s: { type: "string" },
  y: text("byte"),
  i: { type: "integer" },
  l: { type: "integer" },
  d: { type: "number" },
  b: { type: "boolean" },
  t: text("date-time"),
  u: text("date-time"),
  x: anything,
  q: anything,
  j: anything
}

const known = new WeakMap<ResourceDefinition, SchemaDeclaration>()

/** Undefined for a kind whose fields are not known. */
export const declarationOf = (resource: ResourceDefinition): SchemaDeclaration | undefined => {
  const found = known.get(resource)
  if (found !== undefined) return found
  const schema = schemaOf(resource)
  if (schema === undefined) return undefined
  const made = { schema, isResource: true }
  known.set(resource, made)
  return made
}

const schemaOf = (resource: ResourceDefinition): StructuralSchema | undefined => {
  const { customResource: custom } = resource
  if (custom === undefined) {
    const type = types.ofKind(resource)
    return type === undefined ? undefined : ofType(type.id, [])
  }
  const metadata = ofType("meta.ObjectMeta", [])
  return { ...custom.schema, type: "object", properties: { ...custom.schema.properties, metadata } }
}

const ofType = (id: string, outer: ReadonlyArray<string>): StructuralSchema => {
  if (outer.includes(id)) return anything
  const inner = [...outer, id]
  const fields = [...types.get(id).fields].map(([name, { fieldType }]) => [name, ofField(fieldType, inner)] as const)
  return { type: "object", properties: Object.fromEntries(fields) }
}

const ofField = (type: types.FieldType, outer: ReadonlyArray<string>): StructuralSchema => {
  switch (type._tag) {
    case "Scalar":
      return scalars[type.scalar]
    case "Ref":
      return ofType(type.type, outer)
    case "Map":
      return { type: "object", additionalProperties: ofField(type.element, outer) }
    case "List":
      return { type: "array", items: ofField(type.element, outer) }
  }
}
