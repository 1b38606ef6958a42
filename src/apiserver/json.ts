/**
 * Plain JSON as the server handles it. Objects come from `JSON.parse`, so `__proto__` and `constructor` are ordinary keys of
 * theirs: everything here reads own properties only and writes without ever calling a setter. Nothing here knows Kubernetes.
 */

export type Json = string | number | boolean | null | JsonObject | Array<Json>

/** Mutable: the code that parsed the text owns the object and may change it in place. */
export interface JsonObject {
  [key: string]: Json
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const get = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Assignment that treats `__proto__` as a key like any other. */
export const set = (object: JsonObject, key: string, value: Json): void => {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** The value at a path of own properties, `undefined` where there is none. */
export const at = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined => {
  let current = value
  for (const key of path) {
    if (!isObject(current)) return undefined
    current = get(current, key)
  }
  return current
}

/** The string at a path; the empty string when it is absent or something else. */
export const textAt = (value: Json | undefined, ...path: ReadonlyArray<string>): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

/** The number at a path; 0 when it is absent or something else. */
export const numberAt = (value: Json | undefined, ...path: ReadonlyArray<string>): number => {
  const found = at(value, ...path)
  return typeof found === "number" ? found : 0
}

export const objectAt = (value: Json | undefined, ...path: ReadonlyArray<string>): JsonObject | undefined => {
  const found = at(value, ...path)
  return isObject(found) ? found : undefined
}

export const arrayAt = (value: Json | undefined, ...path: ReadonlyArray<string>): Array<Json> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Object at a key, created when absent or of another type. */
export const ensureObject = (object: JsonObject, key: string): JsonObject => {
  const found = get(object, key)
  if (isObject(found)) return found
  const created: JsonObject = {}
  set(object, key, created)
  return created
}

/** Sets, or removes when `undefined`. */
export const put = (object: JsonObject, key: string, value: Json | undefined): void => {
  if (value === undefined) delete object[key]
  else set(object, key, value)
}

/** Equal as JSON: the order of keys does not matter, the order of elements does. */
export const equal = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => equal(element, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], get(b, key)))
  )
}

export const clone = <A extends Json>(value: A): A => {
  if (Array.isArray(value)) return value.map(clone) as A
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const key of Object.keys(value)) set(out, key, clone(value[key] as Json))
  return out as A
}

/** Removes fields that are null, in place: a typed server reads them as absent. Elements of arrays are kept. */
export const dropNulls = (value: Json): void => {
  if (Array.isArray(value)) {
    for (const element of value) dropNulls(element)
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const child = value[key]
      if (child === null || child === undefined) delete value[key]
      else if (typeof child === "object") dropNulls(child)
    }
  }
}
