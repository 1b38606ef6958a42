/**
 * The text of what a CustomResourceDefinition says, so that two definitions that say the same have the same text: versions and keywords in a
 * fixed order, without keywords that say nothing and without what every object has.
 */
import { canonical } from "../../../../src/kube/structural/lists.ts"
import type { StructuralSchema } from "../../../../src/kube/structural/StructuralSchema.ts"

const flags = new Set(["nullable", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"])

const integerOrString = canonical([{ type: "integer" }, { type: "string" }])

const mapped = (all: Readonly<Record<string, StructuralSchema>>): object =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, schemaOf(one)]))

const schemaOf = (schema: StructuralSchema): object => {
  const out: Array<readonly [string, unknown]> = []
  for (const [key, value] of Object.entries(schema) as ReadonlyArray<readonly [string, any]>) {
    if (value === "" || value === null || (Array.isArray(value) && value.length === 0)) {
      if (key !== "default" || value === null) continue
    }
    if (value === false && (flags.has(key) || key.startsWith("x-kubernetes-"))) continue
    // A field with a default is never missing.
    if (key === "required") {
      const needed = value.filter((name: string) => (schema.properties?.[name]?.default ?? undefined) === undefined)
      if (needed.length > 0) out.push([key, needed.toSorted()])
    } else if (
      key === "anyOf" &&
      schema["x-kubernetes-int-or-string"] === true &&
      canonical(value) === integerOrString
    ) {
      continue
    } else if (key === "properties") {
      if (Object.keys(value).length > 0) out.push([key, mapped(value)])
    } else if (key === "items" || key === "not" || (key === "additionalProperties" && typeof value === "object")) {
      out.push([key, schemaOf(value)])
    } else if (key === "allOf" || key === "anyOf" || key === "oneOf") out.push([key, value.map(schemaOf)])
    else out.push([key, value])
  }
  return Object.fromEntries(out)
}

const implied = ["apiVersion", "kind", "metadata"]

const rootOf = (schema: StructuralSchema): object => {
  const { description: _, properties = {}, required = [], ...rest } = schema
  const kept = Object.entries(properties).filter(([name, one]) => {
    const { description: __, type: ___, ...more } = one
    return !implied.includes(name) || Object.keys(schemaOf(more)).length > 0
  })
  return schemaOf({
    ...rest,
    properties: Object.fromEntries(kept),
    required: required.filter((name) => !implied.includes(name))
  })
}

const tidied = (value: any): any => {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== "" && one !== null && one !== 0 && !(Array.isArray(one) && one.length === 0))
      .map(([key, one]) => [key, tidied(one)])
  )
}

/** Selectable fields and the conversion are not compared. */
const versionOf = (version: any): object => {
  const { deprecated, schema, selectableFields: _, subresources = {}, ...rest } = version
  const schemas = { schema: rootOf(schema.openAPIV3Schema), subresources: tidied(subresources) }
  return Object.assign(tidied(rest), schemas, deprecated === true ? { deprecated } : {})
}

export const normal = ({ metadata, spec }: any): string => {
  const { conversion: _, names, preserveUnknownFields: __, versions, ...rest } = spec
  return canonical({
    name: metadata.name,
    approved: metadata.annotations?.["api-approved.kubernetes.io"] ?? "",
    spec: rest,
    names: tidied({ listKind: `${names.kind}List`, singular: names.kind.toLowerCase(), ...names }),
    versions: versions.toSorted((a: any, b: any) => (a.name < b.name ? -1 : 1)).map(versionOf)
  })
}
