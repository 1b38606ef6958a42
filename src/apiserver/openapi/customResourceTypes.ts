/**
 * Custom resources in the OpenAPI documents: the schema of the definition, with apiVersion, kind and metadata. Version 3 has
 * the schema unchanged; version 2 omits what it cannot express. Names are the reversed group, version and kind, as in
 * apiextensions-apiserver.
 */
import { isObject } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import { ofKind } from "./descriptions.ts"

/** Versions of OpenAPI. */
export type Dialect = "v2" | "v3"

/** Distinguishes ids of custom resource types from those of the type table. */
const prefix = "custom:"

export const isCustomResource = (id: string): boolean => id.startsWith(prefix)

export const nameOf = (id: string): string => id.slice(prefix.length)

export const idOf = ({ group, kind, version }: Pick<ResourceDefinition, "group" | "kind" | "version">): string =>
  prefix + [...group.split(".").toReversed(), version, kind].join(".")

/** A definition by its id; `ref` returns a reference and adds the definition that it refers to. */
export type Define = (dialect: Dialect, ref: (id: string) => JsonObject) => JsonObject

export interface CustomResourceType {
  readonly gvk: Pick<ResourceDefinition, "group" | "kind" | "version">
  readonly define: Define
}

/** The types of all custom resources and their lists. */
export const typesOf = (resources: ReadonlyArray<ResourceDefinition>): ReadonlyMap<string, CustomResourceType> =>
  new Map(
    resources.flatMap((resource) => {
      const { customResource: custom, group, version } = resource
      if (custom === undefined) return []
      const id = idOf(resource)
      const gvk = { group, version, kind: resource.kind }
      const selectable = selectableOf(resource)
      const own: Define = (dialect, ref) => ({
        ...object(dialect, custom.schema as unknown as JsonObject, ref),
        ...selectable
      })
      return [
        [id, { gvk, define: own }] as const,
        [
          `${id}List`,
          {
            gvk: { ...gvk, kind: `${resource.kind}List` },
            define: (...all) => ({ ...listOf(id)(...all), ...selectable })
          }
        ] as const
      ]
    })
  )

/** apiextensions-apiserver, pkg/controller/openapi/builder: buildSelectableFields. */
const selectableOf = ({ fields }: ResourceDefinition): JsonObject => {
  const names = Object.keys(fields)
  return names.length === 0 ? {} : { "x-kubernetes-selectable-fields": names.map((fieldPath) => ({ fieldPath })) }
}

const apiVersion = { type: "string", description: ofKind["apiVersion"] ?? "" }

const kind = { type: "string", description: ofKind["kind"] ?? "" }

const object = (dialect: Dialect, schema: JsonObject, ref: (id: string) => JsonObject): JsonObject => {
  const { properties, ...rest } = dialect === "v3" ? schema : schemaV2(schema)
  const own = isObject(properties) ? properties : {}
  return { ...rest, type: "object", properties: { ...own, apiVersion, kind, metadata: ref("meta.ObjectMeta") } }
}

const listOf =
  (id: string): Define =>
  (_, ref) => ({
    type: "object",
    required: ["items"],
    properties: { apiVersion, kind, items: { type: "array", items: ref(id) }, metadata: ref("meta.ListMeta") }
  })

const keptKeywords = ["description", "format", "required"]

/** The schema in version 2, which has neither null nor alternatives: the type is omitted where they are allowed. */
const schemaV2 = (schema: JsonObject): JsonObject => {
  const isOpen = schema["nullable"] === true || schema["x-kubernetes-int-or-string"] === true
  const entries = Object.entries(schema).filter(
    ([key]) => keptKeywords.includes(key) || key.startsWith("x-kubernetes-")
  )
  const out: JsonObject = Object.fromEntries(entries)
  delete out["x-kubernetes-validations"]
  if (isOpen) return out
  const { additionalProperties, items, properties, type } = schema
  if (type !== undefined) out["type"] = type
  if (isObject(items)) out["items"] = schemaV2(items)
  if (isObject(additionalProperties)) out["additionalProperties"] = schemaV2(additionalProperties)
  if (isObject(properties)) out["properties"] = propertiesV2(properties)
  return out
}

const propertiesV2 = (properties: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, isObject(one) ? schemaV2(one) : one] as const)
  )
