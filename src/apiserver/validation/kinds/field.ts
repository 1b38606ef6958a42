/**
 * Field errors of a Status 422. Values are printed in Go syntax for maps and structs, because clients match on these texts.
 * Source: apimachinery, util/validation/field. Values are JSON of any shape; nothing here throws.
 */
import { get, isObject } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import type { FieldError } from "../../StatusError.ts"

/** Validation functions push their errors to this array, which is created for each write and stays empty for a valid object. */
export type Errors = Array<FieldError>

/** A value that is already printed, in the syntax of a Go type. */
export class Printed {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = Json | Printed | undefined

const quoted = (value: string): string => JSON.stringify(value)

/** `map[string]string{"a":"b"}`, sorted as Go prints it. */
export const stringMap = (value: Json | undefined): Printed => {
  if (!isObject(value)) return new Printed("map[string]string(nil)")
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${quoted(key)}:${JSON.stringify(get(value, key))}`)
  return new Printed(`map[string]string{${pairs.join(", ")}}`)
}

export const stringList = (value: Json | undefined): Printed =>
  new Printed(
    Array.isArray(value) ? `[]string{${value.map((one) => JSON.stringify(one)).join(", ")}}` : "[]string(nil)"
  )

/** A number or a percentage. */
export const intOrString = (value: Json | undefined): Printed =>
  typeof value === "string"
    ? new Printed(`intstr.IntOrString{Type:1, IntVal:0, StrVal:${quoted(value)}}`)
    : new Printed(`intstr.IntOrString{Type:0, IntVal:${typeof value === "number" ? value : 0}, StrVal:""}`)

const requirement = (value: Json): string => {
  const one = isObject(value) ? value : {}
  const text = (key: string): string => JSON.stringify(get(one, key) ?? "")
  return `v1.LabelSelectorRequirement{Key:${text("key")}, Operator:${text("operator")}, Values:${stringList(get(one, "values")).text}}`
}

export const labelSelector = (value: Json | undefined): Printed => {
  const selector: JsonObject = isObject(value) ? value : {}
  const expressions = get(selector, "matchExpressions")
  const list = Array.isArray(expressions)
    ? `[]v1.LabelSelectorRequirement{${expressions.map(requirement).join(", ")}}`
    : "[]v1.LabelSelectorRequirement(nil)"
  return new Printed(
    `v1.LabelSelector{MatchLabels:${stringMap(get(selector, "matchLabels")).text}, MatchExpressions:${list}}`
  )
}

const print = (value: Value): string => {
  if (value instanceof Printed) return value.text
  return value === undefined ? "null" : JSON.stringify(value)
}

const detailed = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`)

export const required = (field: string, detail = ""): FieldError => ({
  reason: "FieldValueRequired",
  message: detailed("Required value", detail),
  field
})

export const invalid = (field: string, value: Value, detail: string): FieldError => ({
  reason: "FieldValueInvalid",
  message: detailed(`Invalid value: ${print(value)}`, detail),
  field
})

export const forbidden = (field: string, detail: string): FieldError => ({
  reason: "FieldValueForbidden",
  message: detailed("Forbidden", detail),
  field
})

export const duplicate = (field: string, value: Value): FieldError => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${print(value)}`,
  field
})

export const notFound = (field: string, value: Value): FieldError => ({
  reason: "FieldValueNotFound",
  message: `Not found: ${print(value)}`,
  field
})

export const tooLong = (field: string, limit: number): FieldError => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${limit} bytes`,
  field
})

export const notSupported = (field: string, value: Value, supported: ReadonlyArray<string>): FieldError => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${print(value)}: supported values: ${supported.map(quoted).join(", ")}`,
  field
})

/** Pushes one error for each detail that a syntax check returned. */
export const pushAll = (errors: Errors, field: string, value: Value, details: ReadonlyArray<string>): void => {
  for (const detail of details) errors.push(invalid(field, value, detail))
}
