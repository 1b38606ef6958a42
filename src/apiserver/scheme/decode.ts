/**
 * Decodes an object as kube-apiserver does by decoding JSON into a struct and encoding it again: unknown fields are removed and
 * reported, values of a wrong type are reported, omitempty drops empty values and the other fields get their zero value
 * (`presence.ts`). A compiled check in one pass answers the common case of nothing to report or remove; only otherwise is the
 * object walked again, with paths.
 */
import { isObject, set } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as presence from "./presence.ts"
import * as scalars from "./scalars.ts"
import * as types from "./types.ts"

/** A value of a wrong type. */
export interface Mismatch {
  /** Field names and list indexes, from the root. */
  readonly path: ReadonlyArray<string | number>
  /** Struct fields only, as in the errors of Go's decoder. */
  readonly fields: ReadonlyArray<string>
  /** The type that declares the field. */
  readonly owner: types.Type
  readonly fieldType: types.FieldType
  readonly value: Json
}

export interface Findings {
  /** Paths of the removed unknown fields, in the order of the object: `spec.containers[0].foo`. */
  readonly unknown: ReadonlyArray<string>
  /** The first value of a wrong type. */
  readonly mismatch: Mismatch | undefined
}

/** The maximum that kube-apiserver reports. */
const limit = 100

/**
 * Changes the object in place; undefined when there is nothing to report. A null is dropped as a struct field, and decodes to the zero value of
 * its type in a map or list.
 */
export const decode = (object: JsonObject, type: types.Type): Findings | undefined => {
  if (checkOf(type.id)(object)) return undefined
  return walked(object, type, true)
}

/**
 * The same for an applied configuration: ownership depends on which fields are present, so empty values and nulls stay, and no defaults are
 * added.
 */
export const decodeSparse = (object: JsonObject, type: types.Type): Findings => walked(object, type, false)

const walked = (object: JsonObject, type: types.Type, whole: boolean): Findings => {
  const walk = new Walk(whole)
  walk.struct(object, type)
  return { unknown: walk.unknown, mismatch: walk.mismatch }
}

type Check = (value: Json) => boolean

const checks = new Map<string, Check>()

/** Fills in while it checks: an object that passes is complete; another is filled in again by the walk. */
const checkOf = (id: string): Check => {
  const found = checks.get(id)
  if (found !== undefined) return found
  // Set before the recursion: types may be recursive.
  let fields: ReadonlyMap<string, Check> | undefined
  let complete: (object: JsonObject) => void
  const check: Check = (value) => {
    if (!isObject(value)) return false
    if (fields === undefined) {
      const type = types.get(id)
      fields = new Map([...type.fields].map(([name, field]) => [name, compileField(field)]))
      complete = presence.completing(type)
    }
    for (const key of Object.keys(value)) {
      const one = fields.get(key)
      if (one === undefined || !one(value[key] as Json)) return false
    }
    complete(value)
    return true
  }
  checks.set(id, check)
  return check
}

/** Fields without omitempty are encoded as null, and clients send back what they read. */
const compileField = (field: types.Field): Check => {
  const check = compile(field.fieldType, presence.keepsEmpty(field))
  return presence.isNullForNothing(field) ? (value) => value === null || check(value) : check
}

/** `mayBeEmpty` applies to the value itself; elements may always be empty. */
const compile = (fieldType: types.FieldType, mayBeEmpty: boolean): Check => {
  switch (fieldType._tag) {
    case "Scalar": {
      const accepts = scalars.accepts[fieldType.scalar]
      return mayBeEmpty ? accepts : (value) => accepts(value) && value !== "" && value !== 0 && value !== false
    }
    case "Ref":
      return checkOf(fieldType.type)
    case "List": {
      const element = compile(fieldType.element, true)
      return (value) => Array.isArray(value) && (mayBeEmpty || value.length > 0) && value.every(element)
    }
    case "Map": {
      const element = compile(fieldType.element, true)
      return (value) => {
        if (!isObject(value)) return false
        const keys = Object.keys(value)
        return (mayBeEmpty || keys.length > 0) && keys.every((key) => element(value[key] as Json))
      }
    }
  }
}

/** The second, slow pass: state of one walk. */
class Walk {
  readonly unknown: Array<string> = []
  mismatch: Mismatch | undefined = undefined
  private readonly path: Array<string | number> = []
  private readonly fields: Array<string> = []
  private readonly whole: boolean

  constructor(whole: boolean) {
    this.whole = whole
  }

  struct(object: JsonObject, type: types.Type): void {
    for (const key of Object.keys(object)) {
      const field = type.fields.get(key)
      this.path.push(key)
      if (field === undefined) {
        if (this.unknown.length < limit) this.unknown.push(pathText(this.path))
        delete object[key]
      } else if (object[key] === null) {
        // The check sets zero values as it goes, also if it fails at a later field.
        if (this.whole) delete object[key]
      } else {
        this.fields.push(key)
        this.value(object[key] as Json, field.fieldType, type, (repaired) => set(object, key, repaired))
        this.fields.pop()
        if (this.whole && !presence.keepsEmpty(field) && presence.isEmpty(object[key] as Json)) delete object[key]
      }
      this.path.pop()
    }
    if (this.whole) presence.completing(type)(object)
  }

  private value(value: Json, fieldType: types.FieldType, owner: types.Type, replace: (repaired: string) => void): void {
    switch (fieldType._tag) {
      case "Scalar": {
        if (scalars.accepts[fieldType.scalar](value)) return
        const repaired = scalars.repaired(fieldType.scalar, value)
        if (repaired === undefined) this.wrong(value, fieldType, owner)
        else replace(repaired)
        return
      }
      case "Ref":
        if (isObject(value)) this.struct(value, types.get(fieldType.type))
        else this.wrong(value, fieldType, owner)
        return
      case "List":
        if (Array.isArray(value)) {
          value.forEach((one, index) => this.element(value, index, one, fieldType.element, owner))
        } else this.wrong(value, fieldType, owner)
        return
      case "Map":
        if (isObject(value)) {
          for (const key of Object.keys(value)) this.member(value, key, fieldType.element, owner)
        } else this.wrong(value, fieldType, owner)
    }
  }

  private element(list: Array<Json>, index: number, one: Json, fieldType: types.FieldType, owner: types.Type): void {
    if (one === null) {
      list[index] = zeroOf(fieldType)
      return
    }
    this.path.push(index)
    this.value(one, fieldType, owner, (repaired) => {
      list[index] = repaired
    })
    this.path.pop()
  }

  private member(map: JsonObject, key: string, fieldType: types.FieldType, owner: types.Type): void {
    if (map[key] === null) {
      if (this.whole) set(map, key, zeroOf(fieldType))
      return
    }
    this.path.push(key)
    this.value(map[key] as Json, fieldType, owner, (repaired) => set(map, key, repaired))
    this.path.pop()
  }

  private wrong(value: Json, fieldType: types.FieldType, owner: types.Type): void {
    this.mismatch ??= { path: [...this.path], fields: [...this.fields], owner, fieldType, value }
  }
}

/** The value that null decodes to in a list or map. */
const zeroOf = (fieldType: types.FieldType): Json => {
  if (fieldType._tag === "List") return []
  if (fieldType._tag === "Map") return {}
  return fieldType._tag === "Ref" ? presence.zeroStruct(fieldType.type) : (scalars.zero[fieldType.scalar] ?? null)
}

export const pathText = (path: ReadonlyArray<string | number>): string =>
  path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("")
