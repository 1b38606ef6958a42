/**
 * Validation before a write is stored: metadata first, then the rules of the kind (`kinds/table.ts`), then the schema of a custom
 * resource. All errors are collected into one Status. Source: apimachinery, pkg/api/validation.
 */
import { arrayAt, at, equal, get, isObject, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Definition from "../apiextensions/Definition.ts"
import * as StatusError from "../StatusError.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as names from "./names.ts"
import { invalid, pushAll, required, tooLong } from "./kinds/field.ts"
import type { Errors } from "./kinds/field.ts"
import { validationOf } from "./kinds/table.ts"

export { forbidden as forbiddenValue, invalid as invalidValue, required } from "./kinds/field.ts"

/** Limit of all annotations together, keys included, in bytes. */
const annotationBytes = 262_144

/** Refuses an invalid object; `before` is the stored object of an update. */
export const object = (
  resource: ResourceDefinition,
  object: JsonObject,
  before?: JsonObject
): StatusError.StatusError | undefined => {
  const errors = ofMetadata(resource, object)
  if (StatusError.isRefusal(errors)) return errors
  const validation = validationOf(resource)
  validation.validate?.(errors, object)
  validateCustomResource(errors, resource, object, before)
  if (before === undefined) validation.validateCreate?.(errors, object)
  else validation.validateUpdate?.(errors, object, before)
  if (errors.length === 0) return undefined
  return StatusError.invalid(validation.reportedAs ?? resource, textAt(object, "metadata", "name"), errors)
}

/** The warnings that the client of a valid write gets. */
export const warnings = (resource: ResourceDefinition, object: JsonObject): ReadonlyArray<string> =>
  validationOf(resource).warnings?.(object) ?? []

/** Refuses an invalid write of a subresource, by its metadata and its ephemeral containers or status. */
export const part = (
  resource: ResourceDefinition,
  subresource: string,
  object: JsonObject,
  before: JsonObject
): StatusError.StatusError | undefined => {
  const errors = ofMetadata(resource, object)
  if (StatusError.isRefusal(errors)) return errors
  validateCustomResource(errors, resource, object, before)
  if (subresource === "ephemeralcontainers")
    validationOf(resource).validateEphemeralContainers?.(errors, object, before)
  if (subresource === "status") validationOf(resource).validateStatusUpdate?.(errors, object, before)
  return errors.length === 0 ? undefined : StatusError.invalid(resource, textAt(object, "metadata", "name"), errors)
}

/**
 * Validates a custom resource by the schema of its CustomResourceDefinition. An update may leave a value that it does not touch, though a schema that
 * has become stricter would refuse it. Source: apiextensions-apiserver, registry/customresource, ratcheting.
 */
const validateCustomResource = (
  errors: Errors,
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject | undefined
): void => {
  const { customResource: custom } = resource
  if (custom === undefined) return
  const found = Definition.faultsOf(resource, custom, object)
  const old = before === undefined || found.length === 0 ? [] : Definition.faultsOf(resource, custom, before)
  const known = errors.length
  for (const cause of found) {
    const isOld = old.some((one) => one.field === cause.field && one.message === cause.message)
    const isUntouched =
      isOld &&
      before !== undefined &&
      equal(Definition.valueAt(object, cause.field), Definition.valueAt(before, cause.field))
    if (!isUntouched) errors.push(cause)
  }
  if (!Definition.hasRules(custom)) return
  if (errors.slice(known).some(({ reason }) => blocking.has(reason))) {
    errors.push(Definition.unchecked)
    return
  }
  errors.push(...Definition.rulesBroken(resource, custom, object, before))
}

/** Errors after which the rules of the schema are not evaluated, because the value may not be of the types that they are written for. */
const blocking: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid"
])

/** The errors of the metadata; a refusal when they cannot be read. */
const ofMetadata = (resource: ResourceDefinition, object: JsonObject): Errors | StatusError.StatusError => {
  const meta = objectAt(object, "metadata") ?? {}
  const errors: Errors = []
  name(errors, resource, meta)
  const refusal = stringMap(errors, meta, "labels") ?? stringMap(errors, meta, "annotations")
  if (refusal !== undefined) return refusal
  owners(errors, meta)
  finalizers(errors, meta)
  return errors
}

const name = (errors: Errors, resource: ResourceDefinition, meta: JsonObject): void => {
  const text = textAt(meta, "name")
  const generate = textAt(meta, "generateName")
  if (generate !== "") {
    pushAll(errors, "metadata.generateName", generate, names.objectName(resource, generate, true))
  }
  if (text === "") errors.push(required("metadata.name", "name or generateName is required"))
  else pushAll(errors, "metadata.name", text, names.objectName(resource, text))
}

const stringMap = (
  errors: Errors,
  meta: JsonObject,
  which: "labels" | "annotations"
): StatusError.StatusError | undefined => {
  const map = get(meta, which)
  if (map === undefined) return undefined
  const field = `metadata.${which}`
  if (!isObject(map))
    return StatusError.badRequest(`json: cannot unmarshal value into Go struct field ObjectMeta.${field}`)
  let bytes = 0
  for (const key of Object.keys(map)) {
    const value = map[key]
    if (typeof value !== "string") {
      return StatusError.badRequest(
        `json: cannot unmarshal ${typeof value} into Go struct field ObjectMeta.${field} of type string`
      )
    }
    bytes += key.length + value.length
    pushAll(errors, field, key, names.qualified(which === "annotations" ? key.toLowerCase() : key))
    if (which === "labels") pushAll(errors, field, value, names.label(value))
  }
  if (which === "annotations" && bytes > annotationBytes) errors.push(tooLong(field, annotationBytes))
  return undefined
}

const owners = (errors: Errors, meta: JsonObject): void => {
  let controllers = 0
  for (const owner of arrayAt(meta, "ownerReferences")) {
    // The field path has no index, as in kube-apiserver.
    for (const key of ["apiVersion", "kind", "name", "uid"]) {
      if (textAt(owner, key) !== "") continue
      const what = key === "apiVersion" ? "version" : key
      errors.push(invalid(`metadata.ownerReferences.${key}`, "", `${what} must not be empty`))
    }
    if (at(owner, "controller") === true) controllers++
  }
  if (controllers > 1) {
    const detail = "Only one reference can have Controller set to true"
    errors.push(invalid("metadata.ownerReferences", arrayAt(meta, "ownerReferences"), detail))
  }
}

/** Finalizers that need no domain. */
const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"])

const finalizers = (errors: Errors, meta: JsonObject): void => {
  const list = arrayAt(meta, "finalizers")
  for (const one of list) {
    pushAll(errors, "metadata.finalizers", one, names.qualified(typeof one === "string" ? one : ""))
  }
  for (const [index, one] of list.entries()) {
    if (typeof one !== "string" || one.includes("/") || standardFinalizers.has(one)) continue
    const detail = "name is neither a standard finalizer name nor is it fully qualified"
    errors.push(invalid(`metadata.finalizers[${index}]`, one, detail))
  }
  if (list.includes("orphan") && list.includes("foregroundDeletion")) {
    const detail = "finalizer orphan and foregroundDeletion cannot be both set"
    errors.push(invalid("metadata.finalizers", list, detail))
  }
}
