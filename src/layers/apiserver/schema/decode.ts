/**
 * Reads an object as the type table says it is: what the reference server does by decoding into a struct. Fields the type
 * does not have are taken out and told, values of a wrong type are told. One pass over a compiled check answers the common
 * case, that there is nothing to tell; only then is it walked a second time, with paths.
 */
import { isObject, set } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as scalars from "./scalars.ts"
import * as types from "./types.ts"

/** A value that cannot be what its field is. */
export interface Mismatch {
  /** Names and indexes down to the value. */
  readonly path: ReadonlyArray<string | number>
  /** The same as Go's decoder counts it: only fields of structs. */
  readonly fields: ReadonlyArray<string>
  /** The type whose field it is. */
  readonly owner: types.Type
  readonly form: types.Form
  readonly value: Json
}

export interface Findings {
  /** Paths of the fields that were taken out, in the order of the object: `spec.containers[0].foo`. */
  readonly unknown: ReadonlyArray<string>
  /** The first one. */
  readonly mismatch: Mismatch | undefined
}

/** As many as the reference server reports. */
const limit = 100

/** Changes the object in place; undefined when it is exactly of the type. */
export const decode = (object: JsonObject, type: types.Type): Findings | undefined => {
  if (checkOf(type.id)(object)) return undefined
  const walk = new Walk()
  walk.struct(object, type)
  return { unknown: walk.unknown, mismatch: walk.mismatch }
}

type Check = (value: Json) => boolean

const checks = new Map<string, Check>()

const checkOf = (id: string): Check => {
  const found = checks.get(id)
  if (found !== undefined) return found
  // Put first, since types may contain themselves.
  let fields: ReadonlyMap<string, Check> | undefined
  const check: Check = (value) => {
    if (!isObject(value)) return false
    fields ??= new Map([...types.get(id).fields].map(([name, { form }]) => [name, compile(form)]))
    for (const key of Object.keys(value)) {
      const one = fields.get(key)
      if (one === undefined || !one(value[key] as Json)) return false
    }
    return true
  }
  checks.set(id, check)
  return check
}

const compile = (form: types.Form): Check => {
  switch (form._tag) {
    case "Scalar":
      return scalars.accepts[form.scalar]
    case "Ref":
      return checkOf(form.type)
    case "List": {
      const element = compile(form.element)
      return (value) => Array.isArray(value) && value.every(element)
    }
    case "Map": {
      const element = compile(form.element)
      return (value) => isObject(value) && Object.keys(value).every((key) => element(value[key] as Json))
    }
  }
}

/** The second, slow pass: state of one walk. */
class Walk {
  readonly unknown: Array<string> = []
  mismatch: Mismatch | undefined = undefined
  private readonly path: Array<string | number> = []
  private readonly fields: Array<string> = []

  struct(object: JsonObject, type: types.Type): void {
    for (const key of Object.keys(object)) {
      const field = type.fields.get(key)
      this.path.push(key)
      if (field === undefined) {
        if (this.unknown.length < limit) this.unknown.push(pathText(this.path))
        delete object[key]
      } else {
        this.fields.push(key)
        this.value(object[key] as Json, field.form, type, (repaired) => set(object, key, repaired))
        this.fields.pop()
      }
      this.path.pop()
    }
  }

  private value(value: Json, form: types.Form, owner: types.Type, replace: (repaired: string) => void): void {
    switch (form._tag) {
      case "Scalar": {
        if (scalars.accepts[form.scalar](value)) return
        const repaired = scalars.repaired(form.scalar, value)
        if (repaired === undefined) this.wrong(value, form, owner)
        else replace(repaired)
        return
      }
      case "Ref":
        if (isObject(value)) this.struct(value, types.get(form.type))
        else this.wrong(value, form, owner)
        return
      case "List":
        if (Array.isArray(value)) {
          value.forEach((one, index) => this.element(value, index, one, form.element, owner))
        } else this.wrong(value, form, owner)
        return
      case "Map":
        if (isObject(value)) {
          for (const key of Object.keys(value)) this.member(value, key, form.element, owner)
        } else this.wrong(value, form, owner)
    }
  }

  private element(list: Array<Json>, index: number, one: Json, form: types.Form, owner: types.Type): void {
    if (one === null) {
      list[index] = zeroOf(form)
      return
    }
    this.path.push(index)
    this.value(one, form, owner, (repaired) => {
      list[index] = repaired
    })
    this.path.pop()
  }

  private member(map: JsonObject, key: string, form: types.Form, owner: types.Type): void {
    this.path.push(key)
    this.value(map[key] as Json, form, owner, (repaired) => set(map, key, repaired))
    this.path.pop()
  }

  private wrong(value: Json, form: types.Form, owner: types.Type): void {
    this.mismatch ??= { path: [...this.path], fields: [...this.fields], owner, form, value }
  }
}

/** What a null element is read as. */
const zeroOf = (form: types.Form): Json => {
  if (form._tag === "List") return []
  return form._tag === "Scalar" ? (scalars.zero[form.scalar] ?? null) : {}
}

export const pathText = (path: ReadonlyArray<string | number>): string =>
  path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("")
