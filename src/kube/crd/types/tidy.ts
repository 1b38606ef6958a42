/**
 * A structural schema without the keywords that say nothing: flags that are false, empty texts and lists, which the API server does not store
 * either. Two schemas that differ only in these are the same schema.
 */
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"

/** A copy whose members may be removed one by one. */
export type Keywords = { -readonly [K in keyof StructuralSchema]?: StructuralSchema[K] }

/** Of this schema alone, not of those inside of it. */
export const tidy = (schema: StructuralSchema): Keywords =>
  Object.fromEntries(Object.entries(schema).filter(([key, value]) => known.has(key) && !isEmpty(key, value)))

const isEmpty = (key: string, value: unknown): boolean => {
  // Values of an object, where false and empty texts are values too. A default of null is none.
  if (key === "default" || key === "example") return value === undefined || value === null
  if (value === undefined || value === null || value === "") return true
  if (value === false) return key !== "additionalProperties"
  if (Array.isArray(value)) return value.length === 0
  return key === "properties" && Object.keys(value).length === 0
}

/** Other keywords are dropped by the API server, or refused before anything is translated. */
const known: ReadonlySet<string> = new Set<keyof StructuralSchema>([
  "type",
  "title",
  "description",
  "format",
  "default",
  "example",
  "externalDocs",
  "nullable",
  "enum",
  "properties",
  "additionalProperties",
  "required",
  "minProperties",
  "maxProperties",
  "items",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "multipleOf",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations"
])
