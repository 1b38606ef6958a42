/**
 * A stored CustomResourceDefinition as ResourceDefinitions, one for each served version. All versions share a storage: with the
 * conversion strategy None they differ in apiVersion only, with Webhook `conversion/` converts between them.
 * Rules in CEL are evaluated after the schema.
 */
import { applyDefaults } from "../../kube/structural/applyDefaults.ts"
import { additionalOf } from "../../kube/structural/StructuralSchema.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import { evaluateRules, hasRules as ruled } from "../../kube/cel/rules/rules.ts"
import { invalid, whole } from "../../kube/structural/fieldErrors.ts"
import { validate } from "../../kube/structural/validate.ts"
import { arrayAt, at, ensureObject, get, isObject, numberAt, objectAt, set, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import * as selectable from "../scheme/selectable.ts"
import * as Shape from "../scheme/Shape.ts"
import { columnsOf } from "./columns.ts"
import { addressOf } from "../webhook/call.ts"
import * as jsonPath from "./jsonPath.ts"

export const storage = "apiextensions.k8s.io/customresourcedefinitions"

/** The finalizer that deletes the custom resources before their definition. */
export const cleanup = "customresourcecleanup.apiextensions.k8s.io"

export const isTerminating = (definition: JsonObject): boolean =>
  textAt(definition, "metadata", "deletionTimestamp") !== ""

/** Whether a condition of the status is true. */
export const isTrue = (definition: JsonObject, type: string): boolean =>
  arrayAt(definition, "status", "conditions").some(
    (one) => textAt(one, "type") === type && textAt(one, "status") === "True"
  )

/** Storage of the custom resources; the prefix keeps it apart from every built-in resource. */
export const storageOf = (definition: JsonObject): string =>
  `custom/${textAt(definition, "spec", "group")}/${textAt(definition, "spec", "names", "plural")}`

export const resourcesOf = (definition: JsonObject): ReadonlyArray<ResourceDefinition.ResourceDefinition> => {
  const converter = converterOf(definition)
  return arrayAt(definition, "spec", "versions").flatMap((version) =>
    isObject(version) && get(version, "served") === true ? [resourceOf(definition, version, converter)] : []
  )
}

/** The resource by which the server accesses the stored objects, even if no version is served. */
export const storageResourceOf = (definition: JsonObject): ResourceDefinition.ResourceDefinition =>
  resourceOf(definition, objectAt(arrayAt(definition, "spec", "versions")[0]) ?? {}, undefined)

const resourceOf = (
  definition: JsonObject,
  version: JsonObject,
  converter: ResourceDefinition.Converter | undefined
): ResourceDefinition.ResourceDefinition => {
  const names = objectAt(definition, "spec", "names") ?? {}
  const schema = schemaOf(version)
  const hasStatus = at(version, "subresources", "status") !== undefined
  const scale = scaleOf(version)
  const fill = filler(schema)
  return ResourceDefinition.make({
    group: textAt(definition, "spec", "group"),
    version: textAt(version, "name"),
    kind: textAt(names, "kind"),
    plural: textAt(names, "plural"),
    singular: textAt(names, "singular"),
    shortNames: texts(names, "shortNames"),
    categories: texts(names, "categories"),
    namespaced: textAt(definition, "spec", "scope") === "Namespaced",
    subresources: [...(hasStatus ? ["status"] : []), ...(scale === undefined ? [] : ["scale"])],
    storage: storageOf(definition),
    generation: hasStatus ? "content" : "whole",
    unconditionalUpdate: false,
    fields: Object.fromEntries(selectablePaths(version).map((path) => [path.slice(1), selectable.path(path.slice(1))])),
    defaults: fill,
    onCreate: hasStatus ? withoutStatus : undefined,
    onUpdate: fill,
    columns: columnsOf(version),
    customResource: {
      definition: textAt(definition, "metadata", "name"),
      schema,
      shape: shapeOf(schema),
      scale,
      storageVersion: storageVersionOf(definition),
      converter,
      terminating: isTerminating(definition)
    }
  })
}

const texts = (object: JsonObject, key: string): ReadonlyArray<string> =>
  arrayAt(object, key).flatMap((one) => (typeof one === "string" ? [one] : []))

/** The JSON paths of the selectable fields of a version. */
export const selectablePaths = (version: Json): ReadonlyArray<string> =>
  arrayAt(version, "selectableFields").map((one) => textAt(one, "jsonPath"))

/** The schema of a version of a validated definition. */
export const schemaOf = (version: JsonObject): StructuralSchema => objectAt(version, "schema", "openAPIV3Schema") ?? {}

const scaleOf = (version: JsonObject): ResourceDefinition.ScalePaths | undefined => {
  const scale = objectAt(version, "subresources", "scale")
  const replicas = jsonPath.members(textAt(scale, "specReplicasPath"))
  const statusReplicas = jsonPath.members(textAt(scale, "statusReplicasPath"))
  if (scale === undefined || replicas === undefined || statusReplicas === undefined) return undefined
  const selector = textAt(scale, "labelSelectorPath")
  return { replicas, statusReplicas, selector: selector === "" ? undefined : jsonPath.members(selector) }
}

const withoutStatus = (object: JsonObject): void => {
  delete object["status"]
}

/** Sets the defaults of a schema, in place. */
const filler =
  (schema: StructuralSchema) =>
  (object: JsonObject): void => {
    const filled = applyDefaults(schema, object)
    if (filled === object) return
    for (const key of Object.keys(object)) if (!Object.hasOwn(filled, key)) delete object[key]
    for (const key of Object.keys(filled)) set(object, key, filled[key] ?? null)
  }

/** Validation errors of an object, with the apiVersion and kind of the resource. */
export const faultsOf = (
  resource: ResourceDefinition.ResourceDefinition,
  custom: ResourceDefinition.CustomResourceInfo,
  object: JsonObject
) => validate(custom.schema, { ...object, apiVersion: ResourceDefinition.apiVersion(resource), kind: resource.kind })

export const hasRules = (custom: ResourceDefinition.CustomResourceInfo): boolean => ruled(custom.schema, true)

/** The errors of the rules in CEL; `before` is the stored object of an update. */
export const rulesBroken = (
  resource: ResourceDefinition.ResourceDefinition,
  custom: ResourceDefinition.CustomResourceInfo,
  object: JsonObject,
  before: JsonObject | undefined
) => {
  const typed = { apiVersion: ResourceDefinition.apiVersion(resource), kind: resource.kind }
  return evaluateRules(
    custom.schema,
    { ...object, ...typed },
    before === undefined ? undefined : { ...before, ...typed }
  )
}

/** Stands for the rules of an object whose schema is not met. */
export const unchecked = invalid(
  whole,
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
)

/** The value at the field path of an error, `spec.list[0].name`. */
export const valueAt = (object: JsonObject, field: string): Json | undefined => {
  let value: Json | undefined = object
  for (const part of field.split(/\.|(?=\[)/)) {
    const index = /^\[(\d+)\]$/.exec(part)?.[1]
    if (index !== undefined) value = Array.isArray(value) ? value[Number(index)] : undefined
    else value = isObject(value) ? get(value, part) : undefined
  }
  return value
}

/** Adds the cleanup finalizer to a new definition. */
export const holdForCleanup = (resource: ResourceDefinition.ResourceDefinition, object: JsonObject): void => {
  if (resource.storage !== storage) return
  const metadata = ensureObject(object, "metadata")
  const held = get(metadata, "finalizers")
  const list = Array.isArray(held) ? held : []
  if (isObject(metadata) && !list.includes(cleanup)) metadata["finalizers"] = [...list, cleanup]
}

/** Timeout of a conversion webhook in seconds. Source: apiextensions-apiserver, conversion: webhookConverter. */
export const conversionTimeoutSeconds = 30

/** The version with storage: true. */
const storageVersionOf = (definition: JsonObject): string =>
  textAt(
    arrayAt(definition, "spec", "versions").find((one) => at(one, "storage") === true),
    "name"
  )

/** Undefined with the conversion strategy None. */
const converterOf = (definition: JsonObject): ResourceDefinition.Converter | undefined => {
  const conversion = objectAt(definition, "spec", "conversion")
  if (textAt(conversion, "strategy") !== "Webhook") return undefined
  const understood = arrayAt(conversion, "webhook", "conversionReviewVersions")
  return {
    id: `${textAt(definition, "metadata", "uid")}/${numberAt(definition, "metadata", "generation")}`,
    group: textAt(definition, "spec", "group"),
    kind: textAt(definition, "spec", "names", "kind"),
    storageVersion: storageVersionOf(definition),
    schemas: new Map(
      arrayAt(definition, "spec", "versions").map((one) => [
        textAt(one, "name"),
        objectAt(one, "schema", "openAPIV3Schema") ?? {}
      ])
    ),
    reviewVersion: understood.find((one) => one === "v1" || one === "v1beta1"),
    address: addressOf(objectAt(conversion, "webhook", "clientConfig"), conversionTimeoutSeconds)
  }
}

/** The shape of a custom resource for server-side apply, from the list and map types of its schema. */
const shapeOf = (schema: StructuralSchema): Shape.Shape => ({
  fields: { ...fieldsOf(schema), metadata: Shape.metadata() }
})

const fieldsOf = (schema: StructuralSchema): Readonly<Record<string, Shape.Shape>> =>
  Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, shapeOfField(one)]))

const shapeOfField = (schema: StructuralSchema): Shape.Shape => {
  if (schema["x-kubernetes-map-type"] === "atomic") return { atomic: true }
  const additional = additionalOf(schema)
  if (schema.type !== "array") {
    return {
      fields: schema["x-kubernetes-embedded-resource"] === true ? { ...fieldsOf(schema) } : fieldsOf(schema),
      ...(additional === undefined ? {} : { others: shapeOfField(additional) })
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
