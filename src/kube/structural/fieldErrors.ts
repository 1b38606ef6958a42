/**
 * The errors of single fields, with the API server's messages. Values are shown as JSON. Each function makes one cause.
 * Source: apimachinery util/validation/field, kube-openapi validation/errors.
 */
import type { Cause } from "./StructuralSchema.ts"

/** The field of an error of the object as a whole. */
export const whole = "<nil>"

export const shown = (value: unknown): string => JSON.stringify(value) ?? "null"

const detailed = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`)

export const invalid = (field: string, value: unknown, detail: string): Cause => ({
  reason: "FieldValueInvalid",
  message: detailed(`Invalid value: ${shown(value)}`, detail),
  field
})

/** For the API both have one reason; here they are distinguished. */
export const typeInvalid = (field: string, value: unknown, detail: string): Cause => ({
  ...invalid(field, value, detail),
  reason: "FieldValueTypeInvalid"
})

export const required = (field: string, detail = ""): Cause => ({
  reason: "FieldValueRequired",
  message: detailed("Required value", detail),
  field
})

export const forbidden = (field: string, detail: string): Cause => ({
  reason: "FieldValueForbidden",
  message: detailed("Forbidden", detail),
  field
})

export const notSupported = (field: string, value: unknown, supported: ReadonlyArray<unknown>): Cause => {
  const list = supported.map((one) => JSON.stringify(typeof one === "string" ? one : shown(one))).join(", ")
  return {
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${shown(value)}: supported values: ${list}`,
    field
  }
}

export const duplicate = (field: string, value: unknown): Cause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
  field
})

export const tooLong = (field: string, limit: number): Cause => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${limit} bytes`,
  field
})

export const tooMany = (field: string, found: number, limit: number): Cause => ({
  reason: "FieldValueTooMany",
  message: `Too many: ${found}: must have at most ${limit} items`,
  field
})
