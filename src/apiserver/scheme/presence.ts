/**
 * Empty and absent values after a round trip through a Go struct: a field with omitempty loses an empty value, any other field
 * appears with its zero value. The type table holds how each field is declared. Source: encoding/json, on the API types.
 */
import type { Json, JsonObject } from "../json.ts"
import * as scalars from "./scalars.ts"
import * as types from "./types.ts"

/** Whether an empty value of the field is kept. */
export const keepsEmpty = ({ always, fieldType, pointer }: types.Field): boolean =>
  pointer || (always && fieldType._tag !== "List" && fieldType._tag !== "Map") || fieldType._tag === "Ref"

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

/** Whether an absent value is encoded as null, as for lists, maps, times and pointers without omitempty. */
export const isNullForNothing = ({ always, fieldType, pointer }: types.Field): boolean => {
  if (!always) return false
  if (pointer || fieldType._tag === "List" || fieldType._tag === "Map") return true
  return fieldType._tag === "Scalar" && scalars.zero[fieldType.scalar] === undefined
}

const none = () => null

/** The encoding of the zero value of a field. */
const zeroOf = (field: types.Field): (() => Json) => {
  const { fieldType } = field
  if (isNullForNothing(field)) return none
  if (fieldType._tag === "Ref") return () => zeroStruct(fieldType.type)
  const zero = fieldType._tag === "Scalar" ? (scalars.zero[fieldType.scalar] ?? null) : null
  return () => zero
}
