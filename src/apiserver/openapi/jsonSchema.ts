/**
 * The OpenAPI schema of JSONSchemaProps, for `kubectl explain`: a recursive type. The server reads such schemas with
 * `kube/structural`; in the type table it is an arbitrary object. Source: apiextensions.k8s.io/v1 JSONSchemaProps.
 */
import type { JsonObject } from "../json.ts"
import type { Dialect } from "./customResourceTypes.ts"
import { jsonSchemaProps } from "./descriptions/extensions.ts"

/** Its id, beside those of the type table. */
export const id = "apiextensions.JSONSchemaProps"

const docs = "apiextensions.ExternalDocumentation"

/** Values that may have one of several types, which the schema does not restrict. */
const [json, orArray, orBool, orTexts] = [
  "apiextensions.JSON",
  "apiextensions.JSONSchemaPropsOrArray",
  "apiextensions.JSONSchemaPropsOrBool",
  "apiextensions.JSONSchemaPropsOrStringArray"
] as const

const anything: ReadonlySet<string> = new Set([json, orArray, orBool, orTexts])

export const isPart = (type: string): boolean => type === id || type === docs || anything.has(type)

type Refer = (id: string) => JsonObject

export const define = (dialect: Dialect, type: string, refer: Refer): JsonObject => {
  if (anything.has(type)) return { description: "A value of one of several types." }
  if (type === docs) return { type: "object", properties: { ...fields(["description", "url"], { type: "string" }) } }
  return {
    description: "The form of a value, as a JSON schema with the extensions of Kubernetes.",
    type: "object",
    properties: Object.fromEntries(
      Object.entries(members(refer)).map(([name, schema]) => [
        name,
        withSiblings(dialect, schema, name in jsonSchemaProps ? { description: jsonSchemaProps[name] ?? "" } : {})
      ])
    )
  }
}

const fields = (names: ReadonlyArray<string>, schema: JsonObject): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(names.map((name) => [name, schema]))

/** A schema with what belongs beside it. Version 3 ignores the siblings of `$ref`. */
export const withSiblings = (dialect: Dialect, schema: JsonObject, more: JsonObject): JsonObject => {
  if (Object.keys(more).length === 0) return schema
  return dialect === "v3" && "$ref" in schema ? { allOf: [schema], ...more } : { ...schema, ...more }
}

const members = (refer: Refer): Readonly<Record<string, JsonObject>> => {
  const schema = refer(id)
  const texts: JsonObject = { type: "array", items: { type: "string" } }
  return {
    ...fields(["$ref", "$schema", "description", "format", "id", "pattern", "title", "type"], { type: "string" }),
    ...fields(["maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"], {
      type: "integer",
      format: "int64"
    }),
    ...fields(["maximum", "minimum", "multipleOf"], { type: "number", format: "double" }),
    ...fields(["exclusiveMaximum", "exclusiveMinimum", "nullable", "uniqueItems"], { type: "boolean" }),
    ...fields(
      ["x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"],
      {
        type: "boolean"
      }
    ),
    ...fields(["x-kubernetes-list-type", "x-kubernetes-map-type"], { type: "string" }),
    ...fields(["required", "x-kubernetes-list-map-keys"], texts),
    "x-kubernetes-validations": { type: "array", items: { type: "object" } },
    additionalItems: refer(orBool),
    additionalProperties: refer(orBool),
    items: refer(orArray),
    default: refer(json),
    example: refer(json),
    enum: { type: "array", items: refer(json) },
    externalDocs: refer(docs),
    not: schema,
    ...fields(["allOf", "anyOf", "oneOf"], { type: "array", items: schema }),
    ...fields(["definitions", "patternProperties", "properties"], { type: "object", additionalProperties: schema }),
    dependencies: { type: "object", additionalProperties: refer(orTexts) }
  }
}
