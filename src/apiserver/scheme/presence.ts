/**
 * Empty and absent values after a round trip through a Go struct: a field with omitempty loses an empty value, any other field
 * appears with its zero value. The type table holds how each field is declared. Source: encoding/json, on the API types.
 */
import type { Json, JsonObject } from "../json.ts"
import * as scalars from "./scalars.ts"
import * as types from "./types.ts"

/** Whether an empty value of the field is kept. */
export const keepsEmpty = ({ always, form, pointer }: types.Field): boolean =>
  pointer || (always && form._tag !== "List" && form._tag !== "Map") || form._tag === "Ref"

/** Zero values, which a non-pointer field cannot distinguish from absent. */
export const isEmpty = (value: Json): boolean => {
  if (typeof value !== "object" || value === null) return value === "" || value === 0 || value === false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

type Complete = (object: JsonObject) => void

const known = new Map<string, Complete>()

/** Sets the fields without omitempty of a struct, in place and not recursively. */
export const completing = (type: types.Type): Complete => {
  const found = known.get(type.id)
  if (found !== undefined) return found
  const zeros = [...type.fields].flatMap(([name, field]) => (field.always ? [{ name, make: zeroOf(field) }] : []))
  const complete: Complete = (object) => {
    for (const zero of zeros) if (object[zero.name] === undefined) object[zero.name] = zero.make()
  }
  known.set(type.id, complete)
  return complete
}

/** The encoding of a zero struct. */
export const zeroStruct = (type: string): JsonObject => {
  const struct: JsonObject = {}
  completing(types.get(type))(struct)
  return struct
}

/** Whether null is what is written for nothing: of lists, maps, times and pointers that are always written. */
export const isNullForNothing = ({ always, form, pointer }: types.Field): boolean => {
  if (!always) return false
  if (pointer || form._tag === "List" || form._tag === "Map") return true
  return form._tag === "Scalar" && scalars.zero[form.scalar] === undefined
}

const none = () => null

/** The encoding of the zero value of a field. */
const zeroOf = (field: types.Field): (() => Json) => {
  const { form } = field
  if (isNullForNothing(field)) return none
  if (form._tag === "Ref") return () => zeroStruct(form.type)
  const zero = form._tag === "Scalar" ? (scalars.zero[form.scalar] ?? null) : null
  return () => zero
}
