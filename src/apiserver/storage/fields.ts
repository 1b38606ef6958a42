/**
 * Computes the field set of an object, and the fields that differ between two states. It walks only what has changed; equal parts cost a
 * comparison and no allocation. Source: structured-merge-diff: typed.
 */
import { equal, get, isObject, set, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Shape from "../scheme/Shape.ts"
import { isEmpty, leaf } from "./FieldSet.ts"
import type { FieldSet } from "./FieldSet.ts"

export interface Difference {
  /** Fields that are added or changed. */
  readonly changed: FieldSet
  /** Fields that are removed. */
  readonly removed: FieldSet
}

/** Metadata that the server sets, and the identity of the object: these fields have no manager. */
const unowned: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink"
])

/** The key of a list element, with defaults of its key members; undefined when a member is missing. */
export const elementKey = (element: Json, shape: Shape.Shape): string | undefined => {
  if (!isObject(element)) return undefined
  const names = Shape.keysOf(shape)
  const first = names[0] ?? ""
  if (names.length === 1) {
    const value = get(element, first) ?? shape.keyDefaults?.[first]
    return value === undefined ? undefined : `k:{${JSON.stringify(first)}:${JSON.stringify(value)}}`
  }
  const members: JsonObject = {}
  for (const name of [...names].sort()) {
    const value = get(element, name) ?? shape.keyDefaults?.[name]
    if (value === undefined) return undefined
    set(members, name, value)
  }
  return `k:${JSON.stringify(members)}`
}

export const isAssociative = (shape: Shape.Shape | undefined): shape is Shape.Shape => Shape.keysOf(shape).length > 0

export const elementShape = (shape: Shape.Shape): Shape.Shape => {
  const fields = shape.fields
  return fields === undefined ? {} : { fields }
}

/** Whether a value is atomic. */
export const isWhole = (value: Json, shape: Shape.Shape | undefined): boolean => {
  if (typeof value !== "object" || value === null || shape?.atomic === true) return true
  return Array.isArray(value) && shape?.set !== true && !isAssociative(shape)
}

/** The field set of an applied configuration: its leaves, including nulls and empty objects, and its list elements. */
export const applied = (value: Json, shape: Shape.Shape | undefined): FieldSet => {
  if (isWhole(value, shape)) return leaf
  if (Array.isArray(value)) return elements(value, shape ?? {}, (one, of) => itself(applied(one, of)))
  const out: FieldSet = {}
  for (const key of Object.keys(value as JsonObject)) {
    const member = (value as JsonObject)[key] ?? null
    const inner = Shape.field(shape, key)
    if (Array.isArray(member) && member.length === 0 && !isWhole(member, inner)) continue
    set(out, `f:${key}`, applied(member, inner))
  }
  return out
}

const itself = (below: FieldSet): FieldSet => (isEmpty(below) ? leaf : { ".": leaf, ...below })

const elements = (
  value: ReadonlyArray<Json>,
  shape: Shape.Shape,
  of: (element: Json, shape: Shape.Shape) => FieldSet
): FieldSet => {
  const out: FieldSet = {}
  const inner = shape.set === true ? shape : elementShape(shape)
  for (const element of value) {
    const key = shape.set === true ? `v:${JSON.stringify(element)}` : elementKey(element, shape)
    if (key !== undefined) set(out, key, shape.set === true ? leaf : of(element, inner))
  }
  return out
}

const isZero = (value: Json): boolean => value === null || value === "" || value === 0 || value === false

/** Whether a member that is always encoded has its zero value. */
const isNothing = (value: Json): boolean => isZero(value) || isEmptyObject(value)

const isEmptyObject = (value: Json): boolean => isObject(value) && isEmpty(value)

/** The field set of an added value, including the nodes of elements. */
const whole = (value: Json, shape: Shape.Shape | undefined, always: boolean): FieldSet => {
  if (isWhole(value, shape)) return leaf
  if (Array.isArray(value)) {
    const below = elements(value, shape ?? {}, (one, of) => itself(wholeMembers(one, of, false)))
    return always && !isEmpty(below) ? below : itself(below)
  }
  const below = wholeMembers(value, shape, always)
  return always ? below : itself(below)
}

const wholeMembers = (value: Json, shape: Shape.Shape | undefined, always: boolean): FieldSet => {
  const out: FieldSet = {}
  if (!isObject(value)) return out
  for (const key of Object.keys(value)) fresh(out, key, value[key] ?? null, Shape.field(shape, key), always)
  return out
}

/**
 * Adds the field set of an added member. `always`: every struct from the root down to this member is encoded always, so that its zero
 * value is not a change.
 */
const fresh = (out: FieldSet, key: string, value: Json, shape: Shape.Shape | undefined, always: boolean): void => {
  const steady = always && shape?.always === true
  if (steady && isNothing(value)) return
  const below = whole(value, shape, steady)
  if (!steady || !isEmpty(below) || isWhole(value, shape)) set(out, `f:${key}`, below)
}

/** The field set of a new object. `skip` names members that the writer does not manage. */
export const all = (object: JsonObject, shape: Shape.Shape, skip: ReadonlyArray<string> = []): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(object)) {
    if (key === "apiVersion" || key === "kind" || skip.includes(key)) continue
    const value = key === "metadata" ? ownedMetadata(object) : (object[key] ?? null)
    fresh(out, key, value, Shape.field(shape, key), true)
  }
  return out
}

/**
 * Whether two new objects have the same field set. False when in doubt: members in another order, elements with other keys. Does not
 * allocate, so that it is cheaper than computing the set.
 */
export const sameForm = (a: Json, b: Json, shape: Shape.Shape | undefined): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return a === b || (typeof a === typeof b && isZero(a) === isZero(b))
  }
  // Where a member is always encoded, an empty object is the zero value and has no owner; an empty list has one.
  if (shape?.atomic === true) return Array.isArray(a) === Array.isArray(b) && isEmptyObject(a) === isEmptyObject(b)
  if (Array.isArray(a)) return Array.isArray(b) && sameElements(a, b, shape)
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  const others = Object.keys(b)
  if (keys.length !== others.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? ""
    if (key !== others[i] || !sameForm(a[key] ?? null, b[key] ?? null, Shape.field(shape, key))) return false
  }
  return true
}

const sameElements = (a: ReadonlyArray<Json>, b: ReadonlyArray<Json>, shape: Shape.Shape | undefined): boolean => {
  if (shape?.set !== true && !isAssociative(shape)) return (a.length === 0) === (b.length === 0)
  if (a.length !== b.length) return false
  const keys = Shape.keysOf(shape)
  const inner = elementShape(shape)
  for (let i = 0; i < a.length; i++) {
    const one = a[i] ?? null
    const other = b[i] ?? null
    if (shape.set === true ? one !== other : !sameForm(one, other, inner)) return false
    for (const key of keys) if (isObject(one) && isObject(other) && get(one, key) !== get(other, key)) return false
  }
  return true
}

/** The managed part of an object; for applied configurations, which are small. */
export const ownable = (object: JsonObject): JsonObject => {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object
  const metadata = ownedMetadata(object)
  return isEmpty(metadata) ? rest : { metadata, ...rest }
}

const ownedMetadata = (object: JsonObject): JsonObject => {
  const metadata = get(object, "metadata")
  const out: JsonObject = {}
  if (!isObject(metadata)) return out
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (!unowned.has(key) && value !== undefined) set(out, key, value)
  }
  return out
}

/** The difference between two states of an object; undefined when no managed field differs. */
export const between = (before: JsonObject, after: JsonObject, shape: Shape.Shape): Difference | undefined => {
  const found: Builder = { changed: undefined, removed: undefined }
  for (const key of Object.keys(after)) {
    if (key === "apiVersion" || key === "kind") continue
    const metadata = key === "metadata"
    const old = metadata ? ownedMetadata(before) : get(before, key)
    member(found, key, old, metadata ? ownedMetadata(after) : (after[key] ?? null), Shape.field(shape, key), true)
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) gone(found, `f:${key}`, before[key] ?? null, Shape.field(shape, key), true)
  }
  return made(found)
}

interface Builder {
  changed: FieldSet | undefined
  removed: FieldSet | undefined
}

const made = ({ changed, removed }: Builder): Difference | undefined =>
  changed === undefined && removed === undefined ? undefined : { changed: changed ?? {}, removed: removed ?? {} }

const note = (found: Builder, which: keyof Builder, key: string, fields: FieldSet): void => {
  set((found[which] ??= {}), key, fields)
}

const gone = (found: Builder, key: string, old: Json, shape: Shape.Shape | undefined, always: boolean): void => {
  const steady = always && shape?.always === true
  const fields = whole(old, shape, steady)
  if (!steady || !isEmpty(fields)) note(found, "removed", key, fields)
}

/** Compares one member of an object; `always` as in `fresh`. */
const member = (
  found: Builder,
  name: string,
  before: Json | undefined,
  after: Json,
  shape: Shape.Shape | undefined,
  always: boolean
): void => {
  if (before === after) return
  if (before === undefined) {
    const added: FieldSet = {}
    fresh(added, name, after, shape, always)
    if (!isEmpty(added)) Object.assign((found.changed ??= {}), added)
    return
  }
  const key = `f:${name}`
  const steady = always && shape?.always === true
  const inner = compare(before, after, shape, steady)
  if (inner === "changed") note(found, "changed", key, leaf)
  else if (inner !== undefined) {
    if (inner.changed !== undefined) note(found, "changed", key, inner.changed)
    if (inner.removed !== undefined) note(found, "removed", key, inner.removed)
  }
}

/** `changed` for an atomic value that differs. */
const compare = (
  before: Json,
  after: Json,
  shape: Shape.Shape | undefined,
  always: boolean
): Builder | "changed" | undefined => {
  if (before === after) return undefined
  if (isWhole(before, shape) || isWhole(after, shape)) return equal(before, after) ? undefined : "changed"
  const found: Builder = { changed: undefined, removed: undefined }
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(after)) {
      member(found, key, get(before, key), after[key] ?? null, Shape.field(shape, key), always)
    }
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key)) {
        gone(found, `f:${key}`, before[key] ?? null, Shape.field(shape, key), always)
      }
    }
  } else if (Array.isArray(before) && Array.isArray(after)) compareElements(found, before, after, shape ?? {})
  else return "changed"
  return found.changed === undefined && found.removed === undefined ? undefined : found
}

const keyed = (list: ReadonlyArray<Json>, shape: Shape.Shape): ReadonlyMap<string, Json> => {
  const out = new Map<string, Json>()
  for (const element of list) {
    const key = shape.set === true ? `v:${JSON.stringify(element)}` : elementKey(element, shape)
    if (key !== undefined) out.set(key, element)
  }
  return out
}

const compareElements = (
  found: Builder,
  before: ReadonlyArray<Json>,
  after: ReadonlyArray<Json>,
  shape: Shape.Shape
): void => {
  const inner = elementShape(shape)
  if (shape.set !== true && areAligned(before, after, shape)) {
    for (const [index, element] of after.entries()) {
      const previous = before[index] ?? null
      const part = compare(previous, element, inner, false)
      if (part !== undefined) noteElement(found, elementKey(element, shape) ?? "", part)
    }
    return
  }
  const old = keyed(before, shape)
  const now = keyed(after, shape)
  for (const [key, element] of now) {
    const previous = old.get(key)
    if (previous === undefined) {
      note(found, "changed", key, shape.set === true ? leaf : itself(wholeMembers(element, inner, false)))
    } else if (shape.set !== true) {
      const part = compare(previous, element, inner, false)
      if (part !== undefined) noteElement(found, key, part)
    }
  }
  for (const [key, element] of old) {
    if (now.has(key)) continue
    note(found, "removed", key, shape.set === true ? leaf : itself(wholeMembers(element, inner, false)))
  }
}

const noteElement = (found: Builder, key: string, part: Builder | "changed"): void => {
  if (part === "changed") return note(found, "changed", key, leaf)
  if (part.changed !== undefined) note(found, "changed", key, part.changed)
  if (part.removed !== undefined) note(found, "removed", key, part.removed)
}

/** Maximum length of lists that are compared without a map of their keys. */
const mostAligned = 8

/** Whether both have the same few elements in the same order, each once; decided without allocation. False when in doubt. */
const areAligned = (before: ReadonlyArray<Json>, after: ReadonlyArray<Json>, shape: Shape.Shape): boolean => {
  const name = Shape.keysOf(shape)[0]
  if (name === undefined || Shape.keysOf(shape).length > 1) return false
  if (before.length !== after.length || after.length > mostAligned) return false
  for (let i = 0; i < after.length; i++) {
    const key = textAt(after[i], name)
    if (key === "" || key !== textAt(before[i], name)) return false
    for (let j = 0; j < i; j++) if (textAt(after[j], name) === key) return false
  }
  return true
}

/**
 * The value without the fields that are in `dropped` and not in `kept`. A member of an object is removed when `kept` has nothing in it;
 * a list element when `kept` does not have the element itself.
 */
export const pruned = (
  value: Json,
  dropped: FieldSet,
  kept: FieldSet | undefined,
  shape: Shape.Shape | undefined
): Json => {
  if (isWhole(value, shape)) return value
  if (Array.isArray(value)) return prunedElements(value, dropped, kept, shape ?? {})
  const out: JsonObject = {}
  for (const key of Object.keys(value as JsonObject)) {
    const member = (value as JsonObject)[key] ?? null
    const less = get(dropped, `f:${key}`)
    if (!isObject(less)) set(out, key, member)
    else {
      const owned = kept === undefined ? undefined : get(kept, `f:${key}`)
      if (isObject(owned)) set(out, key, pruned(member, less, owned, Shape.field(shape, key)))
    }
  }
  return out
}

const prunedElements = (
  value: ReadonlyArray<Json>,
  dropped: FieldSet,
  kept: FieldSet | undefined,
  shape: Shape.Shape
): Array<Json> =>
  value.flatMap((element) => {
    const key = shape.set === true ? `v:${JSON.stringify(element)}` : elementKey(element, shape)
    const less = key === undefined ? undefined : get(dropped, key)
    if (key === undefined || !isObject(less)) return [element]
    const owned = kept === undefined ? undefined : get(kept, key)
    const stays = isObject(owned) && (isEmpty(owned) || Object.hasOwn(owned, "."))
    const wasOwned = isEmpty(less) || Object.hasOwn(less, ".")
    if (wasOwned && !stays) return []
    return [shape.set === true ? element : pruned(element, less, isObject(owned) ? owned : {}, elementShape(shape))]
  })
