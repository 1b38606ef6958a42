/**
 * Validation of metadata, before anything is stored. First cut: what every kind shares; validation of specs belongs in
 * files of its own beside this one. Source: apimachinery api/validation.
 */
import { arrayAt, at, get, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Refusal from "../Refusal.ts"
import type { FieldError } from "../Refusal.ts"
import type { Kind } from "../schema/Kind.ts"
import * as names from "./names.ts"

export const required = (field: string, detail = ""): FieldError => ({
  field,
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`
})

export const invalidValue = (field: string, value: Json, detail: string): FieldError => ({
  field,
  reason: "FieldValueInvalid",
  message: `Invalid value: ${JSON.stringify(value)}: ${detail}`
})

export const forbiddenValue = (field: string, detail: string): FieldError => ({
  field,
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`
})

/** Limit of all annotations together, keys included, in bytes. */
const annotationBytes = 262_144

/** Refuses an object whose metadata a real server would not store. */
export const metadata = (kind: Kind, object: JsonObject): void => {
  const meta = objectAt(object, "metadata") ?? {}
  const errors = [
    ...name(kind, meta),
    ...stringMap(meta, "labels"),
    ...stringMap(meta, "annotations"),
    ...owners(meta),
    ...finalizers(meta)
  ]
  if (errors.length > 0) throw Refusal.invalid(kind, textAt(meta, "name"), errors)
}

const name = (kind: Kind, meta: JsonObject): ReadonlyArray<FieldError> => {
  const text = textAt(meta, "name")
  const generate = textAt(meta, "generateName")
  const errors: Array<FieldError> = []
  if (generate !== "") {
    for (const detail of names.objectName(kind, generate, true)) {
      errors.push(invalidValue("metadata.generateName", generate, detail))
    }
  }
  if (text === "") return [...errors, required("metadata.name", "name or generateName is required")]
  for (const detail of names.objectName(kind, text)) errors.push(invalidValue("metadata.name", text, detail))
  return errors
}

const stringMap = (meta: JsonObject, which: "labels" | "annotations"): ReadonlyArray<FieldError> => {
  const map = get(meta, which)
  if (map === undefined) return []
  const field = `metadata.${which}`
  if (!isObject(map)) throw Refusal.badRequest(`json: cannot unmarshal value into Go struct field ObjectMeta.${field}`)
  const errors: Array<FieldError> = []
  let bytes = 0
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== "string") {
      throw Refusal.badRequest(
        `json: cannot unmarshal ${typeof value} into Go struct field ObjectMeta.${field} of type string`
      )
    }
    bytes += key.length + value.length
    const checked = which === "annotations" ? key.toLowerCase() : key
    for (const detail of names.qualified(checked)) errors.push(invalidValue(field, key, detail))
    if (which === "labels") for (const detail of names.label(value)) errors.push(invalidValue(field, value, detail))
  }
  if (which === "annotations" && bytes > annotationBytes) {
    errors.push({
      field,
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${annotationBytes} bytes`
    })
  }
  return errors
}

const owners = (meta: JsonObject): ReadonlyArray<FieldError> => {
  const errors: Array<FieldError> = []
  let controllers = 0
  for (const [index, owner] of arrayAt(meta, "ownerReferences").entries()) {
    for (const key of ["apiVersion", "kind", "name", "uid"]) {
      if (textAt(owner, key) === "") {
        errors.push(invalidValue(`metadata.ownerReferences[${index}].${key}`, "", `${key} must not be empty`))
      }
    }
    if (at(owner, "controller") === true) controllers++
  }
  if (controllers > 1) {
    errors.push(
      invalidValue(
        "metadata.ownerReferences",
        arrayAt(meta, "ownerReferences"),
        "Only one reference can have Controller set to true"
      )
    )
  }
  return errors
}

const finalizers = (meta: JsonObject): ReadonlyArray<FieldError> => {
  const list = arrayAt(meta, "finalizers")
  const errors = list.flatMap((one) =>
    names
      .qualified(typeof one === "string" ? one : "")
      .map((detail) => invalidValue("metadata.finalizers", one, detail))
  )
  if (list.includes("orphan") && list.includes("foregroundDeletion")) {
    errors.push(invalidValue("metadata.finalizers", list, "finalizer orphan and foregroundDeletion cannot be both set"))
  }
  return errors
}
