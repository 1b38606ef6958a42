/**
 * JSON schemas of the type table as OpenAPI v2 definitions and v3 components, with the `x-kubernetes-…` extensions for merge
 * keys and list types. Definition names are upstream's, because people read them; clients look up by group, version and kind.
 */
import type { JsonObject } from "../json.ts"
import * as types from "../scheme/types.ts"
import * as customTypes from "./customResourceTypes.ts"
import type { Dialect } from "./customResourceTypes.ts"
import * as descriptions from "./descriptions.ts"
import * as jsonSchema from "./jsonSchema.ts"

interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const root: Readonly<Record<Dialect, string>> = { v2: "#/definitions/", v3: "#/components/schemas/" }

export const ref = (dialect: Dialect, id: string): JsonObject => ({ $ref: root[dialect] + nameOf(id) })

/** `core.Pod` → `io.k8s.api.core.v1.Pod`. */
export const nameOf = (id: string): string => {
  if (customTypes.isCustomResource(id)) return customTypes.nameOf(id)
  const own = Object.hasOwn(scalarNames, id) ? scalarNames[id] : undefined
  if (own !== undefined) return own
  const [table = "", name = ""] = id.split(".")
  if (table === "apiextensions") return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${name}`
  if (table === "apiregistration") return `io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.${name}`
  if (table === "metrics") return `io.k8s.metrics.pkg.apis.metrics.v1beta1.${name}`
  if (table === "meta") return `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
  return table === "autoscaling2" ? `io.k8s.api.autoscaling.v2.${name}` : `io.k8s.api.${table}.v1.${name}`
}

/** Scalars that are definitions of their own. */
const scalarNames: Readonly<Record<string, string>> = {
  t: "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  u: "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  x: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  q: "io.k8s.apimachinery.pkg.api.resource.Quantity"
}

const scalars: Readonly<Record<types.Scalar, JsonObject>> = {
  s: { type: "string" },
  y: { type: "string", format: "byte" },
  i: { type: "integer", format: "int32" },
  l: { type: "integer", format: "int64" },
  d: { type: "number", format: "double" },
  b: { type: "boolean" },
  t: { type: "string", format: "date-time" },
  u: { type: "string", format: "date-time" },
  x: { type: "string", format: "int-or-string" },
  q: { type: "string" },
  j: { type: "object" }
}

/** Version 3 can express that a value has one of two types. */
const scalarsV3: Readonly<Record<string, JsonObject>> = {
  x: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  q: { oneOf: [{ type: "string" }, { type: "number" }] }
}

/** Every definition that the given types need, by name; `gvks` says which kinds a type stands for. */
export const definitions = (
  dialect: Dialect,
  ids: Iterable<string>,
  gvks: (id: string) => ReadonlyArray<Gvk>,
  custom: ReadonlyMap<string, customTypes.CustomResourceType> = new Map()
): JsonObject => {
  const found = new Map<string, JsonObject>()
  const refer = (id: string): JsonObject => {
    add(id)
    return ref(dialect, id)
  }
  const add = (id: string): void => {
    if (found.has(id)) return
    const own = custom.get(id)
    if (own !== undefined) {
      found.set(id, {})
      const { group, kind, version } = own.gvk
      const stands = { "x-kubernetes-group-version-kind": [{ group, kind, version }] }
      found.set(id, { ...own.define(dialect, refer), ...stands })
      return
    }
    if (jsonSchema.isPart(id)) {
      found.set(id, {}) // it contains itself
      found.set(id, jsonSchema.define(dialect, id, refer))
      return
    }
    if (Object.hasOwn(scalarNames, id)) {
      const scalar = id as types.Scalar
      found.set(id, (dialect === "v3" ? scalarsV3[scalar] : undefined) ?? scalars[scalar])
      return
    }
    found.set(id, {}) // types may contain themselves
    found.set(id, definition(dialect, types.get(id), gvks(id), add))
  }
  for (const id of ids) add(id)
  return Object.fromEntries(
    [...found].map(([id, schema]) => [nameOf(id), schema] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  )
}

const definition = (
  dialect: Dialect,
  type: types.Type,
  gvks: ReadonlyArray<Gvk>,
  need: (id: string) => void
): JsonObject => {
  const properties: JsonObject = {}
  const required: Array<string> = []
  for (const [name, field] of type.fields) {
    properties[name] = property(dialect, type, name, field, need)
    if (field.required) required.push(name)
  }
  const description = descriptions.ofType(type.id)
  return {
    ...(description === undefined ? {} : { description }),
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    ...(type.fields.size > 0 ? { properties } : {}),
    ...(gvks.length > 0
      ? { "x-kubernetes-group-version-kind": gvks.map(({ group, kind, version }) => ({ group, kind, version })) }
      : {}),
    ...(type.atomic ? { "x-kubernetes-map-type": "atomic" } : {})
  }
}

const property = (
  dialect: Dialect,
  type: types.Type,
  name: string,
  field: types.Field,
  need: (id: string) => void
): JsonObject => {
  const description = descriptions.ofField(type, name)
  const more: JsonObject = {
    ...(description === undefined ? {} : { description }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...merging(field)
  }
  const schema = isSchema(type, name) ? formOf(dialect, jsonSchema.id, need) : schemaOf(dialect, field.fieldType, need)
  return jsonSchema.withSiblings(dialect, schema, more)
}

const merging = ({ atomic, fieldType, patch }: types.Field): JsonObject => {
  const out: JsonObject = {}
  if (fieldType._tag === "List") {
    const keyed = typeof fieldType.merge !== "string"
    out["x-kubernetes-list-type"] = typeof fieldType.merge === "string" ? fieldType.merge : "map"
    if (keyed) out["x-kubernetes-list-map-keys"] = [...fieldType.merge]
  }
  if (atomic) out["x-kubernetes-map-type"] = "atomic"
  if (patch !== undefined) {
    const strategies = [
      ...(patch.key === undefined ? [] : ["merge"]),
      ...(patch.retain ? ["retainKeys"] : []),
      ...(patch.replace ? ["replace"] : [])
    ]
    out["x-kubernetes-patch-strategy"] = strategies.join(",")
    if (patch.key !== undefined && patch.key !== "") out["x-kubernetes-patch-merge-key"] = patch.key
  }
  return out
}

/** The one field whose type is not in the type table. */
const isSchema = ({ id }: types.Type, name: string): boolean =>
  id === "apiextensions.CustomResourceValidation" && name === "openAPIV3Schema"

const formOf = (dialect: Dialect, id: string, need: (id: string) => void): JsonObject => {
  need(id)
  return ref(dialect, id)
}

const schemaOf = (dialect: Dialect, fieldType: types.FieldType, need: (id: string) => void): JsonObject => {
  switch (fieldType._tag) {
    case "Scalar":
      if (!Object.hasOwn(scalarNames, fieldType.scalar)) return { ...scalars[fieldType.scalar] }
      return formOf(dialect, fieldType.scalar, need)
    case "Ref":
      return formOf(dialect, fieldType.type, need)
    case "Map":
      return { type: "object", additionalProperties: schemaOf(dialect, fieldType.element, need) }
    case "List":
      return { type: "array", items: schemaOf(dialect, fieldType.element, need) }
  }
}
