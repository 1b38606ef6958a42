/**
 * Sets of fields in their wire form, `fieldsV1`: a tree whose keys are `f:member`, `k:{…}` for an element of a list by its
 * key members, `v:…` for an element of a set, and `.` for the place itself. An empty tree below a key is a leaf. All
 * operations are pure. Source: structured-merge-diff, fieldpath.
 */
import { equal, get, isObject, set } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Shape from "../schema/Shape.ts"

export type FieldSet = JsonObject

export const isEmpty = (fields: FieldSet): boolean => Object.keys(fields).length === 0

const child = (fields: FieldSet, key: string): FieldSet | undefined => {
  const found = get(fields, key)
  return isObject(found) ? found : undefined
}

/** Key of an element by its key members, defaults filled in; undefined when one is missing. */
export const elementKey = (element: Json, shape: Shape.Shape): string | undefined => {
  if (!isObject(element)) return undefined
  const members: JsonObject = {}
  for (const name of [...Shape.keysOf(shape)].sort()) {
    const value = get(element, name) ?? shape.keyDefaults?.[name]
    if (value === undefined) return undefined
    set(members, name, value)
  }
  return `k:${JSON.stringify(members)}`
}

export const isAssociative = (shape: Shape.Shape | undefined): shape is Shape.Shape => Shape.keysOf(shape).length > 0

const elementShape = (shape: Shape.Shape): Shape.Shape => (shape.fields === undefined ? {} : { fields: shape.fields })

/** Every leaf of a value. */
export const of = (value: Json, shape: Shape.Shape | undefined): FieldSet => {
  const out: FieldSet = {}
  if (shape?.atomic === true) return out
  if (isObject(value)) {
    for (const key of Object.keys(value)) set(out, `f:${key}`, of(value[key] ?? null, Shape.field(shape, key)))
  } else if (Array.isArray(value)) {
    for (const element of value) {
      if (shape?.set === true) set(out, `v:${JSON.stringify(element)}`, {})
      else if (isAssociative(shape)) {
        const key = elementKey(element, shape)
        if (key !== undefined) set(out, key, { ".": {}, ...of(element, elementShape(shape)) })
      }
    }
  }
  return out
}

/** Leaves of `after` that are new or different from `before`. */
export const changed = (
  before: Json | undefined,
  after: Json,
  shape: Shape.Shape | undefined
): FieldSet | undefined => {
  if (before === undefined) return of(after, shape)
  if (equal(before, after)) return undefined
  if (shape?.atomic === true) return {}
  if (isObject(before) && isObject(after)) {
    const out: FieldSet = {}
    for (const key of Object.keys(after)) {
      const part = changed(get(before, key), after[key] ?? null, Shape.field(shape, key))
      if (part !== undefined) set(out, `f:${key}`, part)
    }
    return isEmpty(out) ? undefined : out
  }
  if (Array.isArray(before) && Array.isArray(after) && (shape?.set === true || isAssociative(shape))) {
    const out = changedElements(before, after, shape)
    return isEmpty(out) ? undefined : out
  }
  return of(after, shape)
}

const changedElements = (before: Array<Json>, after: Array<Json>, shape: Shape.Shape): FieldSet => {
  const out: FieldSet = {}
  for (const element of after) {
    if (shape.set === true) {
      if (!before.includes(element)) set(out, `v:${JSON.stringify(element)}`, {})
      continue
    }
    const key = elementKey(element, shape)
    if (key === undefined) continue
    const old = before.find((one) => elementKey(one, shape) === key)
    if (old === undefined) set(out, key, { ".": {}, ...of(element, elementShape(shape)) })
    else {
      const part = changed(old, element, elementShape(shape))
      if (part !== undefined) set(out, key, part)
    }
  }
  return out
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = { ...a }
  for (const key of Object.keys(b)) {
    const left = child(a, key)
    const right = child(b, key) ?? {}
    set(out, key, left === undefined ? right : union(left, right))
  }
  return out
}

const isLeaf = isEmpty

/** What is in both. A leaf on one side stands for everything below it on the other. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(a)) {
    const left = child(a, key)
    const right = child(b, key)
    if (left === undefined || right === undefined) continue
    if (isLeaf(left)) set(out, key, right)
    else if (isLeaf(right)) set(out, key, left)
    else {
      const part = intersection(left, right)
      if (!isEmpty(part)) set(out, key, part)
    }
  }
  return out
}

/** What is in `a` and not in `b`. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(a)) {
    const left = child(a, key) ?? {}
    const right = child(b, key)
    if (right === undefined) set(out, key, left)
    else if (!isLeaf(left) && !isLeaf(right)) {
      const part = difference(left, right)
      if (!isEmpty(part)) set(out, key, part)
    }
  }
  return out
}

/**
 * What of `a` may be taken away when others own `b`: as `difference`, but an element of a list of which the others own any
 * part keeps its place.
 */
export const orphans = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(a)) {
    const left = child(a, key) ?? {}
    const right = child(b, key)
    if (right === undefined) set(out, key, left)
    else if (!isLeaf(left) && !isLeaf(right)) {
      const { ".": _place, ...part } = orphans(left, right)
      if (!isEmpty(part)) set(out, key, part)
    }
  }
  return out
}

/** The leaves as the server prints them: `.spec.containers[name="a"].image`. */
export const paths = (fields: FieldSet, prefix = ""): ReadonlyArray<string> =>
  Object.keys(fields).flatMap((key) => {
    const below = child(fields, key) ?? {}
    const path = prefix + segment(key)
    return isLeaf(below) ? [path] : paths(below, path)
  })

const segment = (key: string): string => {
  if (key === ".") return ""
  const text = key.slice(2)
  if (key.startsWith("f:")) return `.${text}`
  if (key.startsWith("v:")) return `[=${text}]`
  const members: unknown = JSON.parse(text)
  if (!isObject(members)) return `[${text}]`
  return `[${Object.keys(members)
    .map((name) => `${name}=${JSON.stringify(members[name])}`)
    .join(",")}]`
}

/** The value without the fields of a set. Places that become empty by it go too, elements of lists included. */
export const without = (value: Json, fields: FieldSet, shape: Shape.Shape | undefined): Json | undefined => {
  if (isLeaf(fields)) return undefined
  if (isObject(value)) {
    const out: JsonObject = {}
    for (const key of Object.keys(value)) {
      const below = child(fields, `f:${key}`)
      const kept = below === undefined ? value[key] : without(value[key] ?? null, below, Shape.field(shape, key))
      if (kept !== undefined) set(out, key, kept)
    }
    return Object.keys(out).length === 0 && Object.keys(value).length > 0 ? undefined : out
  }
  if (!Array.isArray(value) || shape === undefined) return value
  const kept = value.flatMap((element) => {
    const key = shape.set === true ? `v:${JSON.stringify(element)}` : elementKey(element, shape)
    const below = key === undefined ? undefined : child(fields, key)
    if (below === undefined) return [element]
    // An element goes when the place itself is no longer owned; otherwise only some of its members do.
    if (isLeaf(below) || Object.hasOwn(below, ".")) return []
    const rest = without(element, withoutKeys(below, shape), elementShape(shape))
    return rest === undefined ? [] : [rest]
  })
  return kept.length === 0 && value.length > 0 ? undefined : kept
}

/** The members that identify an element stay as long as the element does. */
const withoutKeys = (fields: FieldSet, shape: Shape.Shape): FieldSet => {
  const out = { ...fields }
  for (const key of Shape.keysOf(shape)) delete out[`f:${key}`]
  return isEmpty(out) ? { "f:": {} } : out
}
