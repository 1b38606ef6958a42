/** How the lists and maps of a custom resource merge in server-side apply, from its schema. Source: the list and map types of the schema. */
import { additionalOf } from "../../kube/structural/StructuralSchema.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import * as Shape from "../scheme/Shape.ts"

/** The shape of a whole object: its metadata is that of every object. */
export const shapeOf = (schema: StructuralSchema): Shape.Shape => ({
  fields: { ...fieldsOf(schema), metadata: Shape.metadata() }
})

const fieldsOf = (schema: StructuralSchema): Readonly<Record<string, Shape.Shape>> =>
  Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, inside(one)]))

const inside = (schema: StructuralSchema): Shape.Shape => {
  if (schema["x-kubernetes-map-type"] === "atomic") return { atomic: true }
  const additional = additionalOf(schema)
  if (schema.type !== "array") {
    return {
      fields: schema["x-kubernetes-embedded-resource"] === true ? { ...fieldsOf(schema) } : fieldsOf(schema),
      ...(additional === undefined ? {} : { others: inside(additional) })
    }
  }
  const { items } = schema
  if (schema["x-kubernetes-list-type"] === "set") return { set: true }
  if (schema["x-kubernetes-list-type"] !== "map" || items === undefined) return {}
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  const defaults = keys.flatMap((key) => {
    const value = items.properties?.[key]?.default
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? [[key, value] as const]
      : []
  })
  return { keys, keyDefaults: Object.fromEntries(defaults), fields: fieldsOf(items) }
}
