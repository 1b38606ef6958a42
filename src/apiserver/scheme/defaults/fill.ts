/** Helpers that set absent or empty members, from which the defaults are composed. They work in place and never throw. */
import { arrayAt, clone, ensureObject, get, isObject, set } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Quantity from "../../../kube/quantity.ts"

/** Sets members that are absent or null; a nil pointer without omitempty is encoded as null. */
export const absent = (object: JsonObject, values: Readonly<Record<string, Json>>): void => {
  for (const key of Object.keys(values)) {
    const value = values[key]
    if (value !== undefined && (get(object, key) ?? null) === null) {
      set(object, key, typeof value === "object" ? clone(value) : value)
    }
  }
}

/** Sets members that are absent or the empty string, which a Go struct does not distinguish. */
export const empty = (object: JsonObject, values: Readonly<Record<string, string>>): void => {
  for (const key of Object.keys(values)) {
    const found = get(object, key)
    if (found === undefined || found === "") set(object, key, values[key] ?? "")
  }
}

export const objects = (value: Json | undefined, ...path: ReadonlyArray<string>): ReadonlyArray<JsonObject> => {
  const list = arrayAt(value, ...path)
  return list.every(isObject) ? list : list.filter(isObject)
}

/** Writes quantities in canonical form: `1000m` is `1`. */
export const quantities = (value: Json | undefined): void => {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    const parsed = Quantity.parse(value[key])
    if (parsed !== undefined) set(value, key, Quantity.canonical(parsed))
  }
}

export const quantity = (object: JsonObject, key: string): void => {
  const parsed = Quantity.parse(get(object, key))
  if (parsed !== undefined) set(object, key, Quantity.canonical(parsed))
}

export const specOf = (object: JsonObject): JsonObject => ensureObject(object, "spec")
