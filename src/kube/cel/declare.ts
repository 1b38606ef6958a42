/**
 * What a structural schema says about values, for CEL: their types, the names of their fields, and the sizes they can have in a request,
 * by which costs are estimated. And the values themselves: JSON is converted when an expression reads it, as far as it reads it.
 * Source: apiserver pkg/cel/common/{schemas,valuesunstructured}.go, pkg/cel/escaping.go, pkg/cel/types.go.
 */
import { canonical } from "../structural/lists.ts"
import { additionalOf, isMembers, member, propertyOf } from "../structural/StructuralSchema.ts"
import type { Members, StructuralSchema } from "../structural/StructuralSchema.ts"
import { parseDate, parseDateTime, parseDuration } from "./library/time.ts"
import * as Type from "./Type.ts"
import { Duration, elementsOf, equals, Failure, Items, List, Mapping, Opaque, Timestamp } from "./Value.ts"
import type { Meter, Outcome, Value } from "./Value.ts"
import { decodeBase64 } from "./library/bytes.ts"

/** A type with what is known of the size of its values. */
export interface Declared {
  readonly type: Type.Type
  /** How many elements or characters a value has at most; 0 where it has none. */
  readonly most: number
  /** The least number of bytes in JSON. */
  readonly least: number
  readonly key?: Declared
  readonly element?: Declared
  /** By escaped name. */
  readonly fields?: ReadonlyMap<string, Declared>
}

/** The largest request in bytes. */
const request = 3 * 1024 * 1024
const unbounded = request - 2

const typed = (type: Type.Type, least: number, most = 0): Declared => ({ type, least, most })
const text = typed(Type.string, 2, unbounded)

/**
 * The type of the values of a schema; undefined where expressions cannot read them, because the schema does not say what they are.
 * `name` is that of the object's type.
 */
export const declare = (schema: StructuralSchema, name: string, isResource: boolean): Declared | undefined => {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return typed(Type.dyn, 1, schema.maxLength === undefined ? unbounded : schema.maxLength * 4)
  }
  const of = isResource ? withMetadata(schema) : schema
  switch (of.type) {
    case "array":
      return declareList(of, name)
    case "object":
      return declareObject(of, name)
    case "string":
      return declareString(of)
    case "boolean":
      return typed(Type.bool, 4)
    case "number":
      return typed(Type.double, 1)
    case "integer":
      return typed(Type.int, 1)
    default:
      return undefined
  }
}

const isEmbedded = (schema: StructuralSchema): boolean => schema["x-kubernetes-embedded-resource"] === true

const declareList = ({ items, maxItems }: StructuralSchema, name: string): Declared | undefined => {
  const element = items === undefined ? undefined : declare(items, `${name}.@idx`, isEmbedded(items))
  if (element === undefined) return undefined
  const most = maxItems === undefined ? Math.floor((request - 2) / (element.least + 1)) : Math.max(0, maxItems)
  return { type: Type.list(element.type), least: 2, most, element }
}

const declareObject = (schema: StructuralSchema, name: string): Declared | undefined => {
  const additional = additionalOf(schema)
  if (additional !== undefined) {
    const element = declare(additional, `${name}.@elem`, isEmbedded(additional))
    if (element === undefined) return undefined
    const { maxProperties } = schema
    const most =
      maxProperties === undefined ? Math.floor((request - 2) / (element.least + 6)) : Math.max(0, maxProperties)
    return { type: Type.map(Type.string, element.type), least: 2, most, key: typed(Type.string, 2), element }
  }
  const fields = new Map<string, Declared>()
  let least = 2
  for (const [property, of] of Object.entries(schema.properties ?? {})) {
    const escaped = escape(property)
    const field = declare(of, `${name}.${escaped ?? property}`, isEmbedded(of))
    if (field === undefined) continue
    if (escaped !== undefined) fields.set(escaped, field)
    if (schema.required?.includes(property) === true && of.default === undefined) {
      least += property.length + field.least + 4
    }
  }
  const types = new Map([...fields].map(([field, { type }]) => [field, type] as const))
  return { type: { kind: "object", name, fields: types }, least, most: 0, fields }
}

const declareString = ({ enum: values = [], format, maxLength }: StructuralSchema): Declared => {
  switch (format) {
    case "byte":
      return typed(Type.bytes, 2, maxLength ?? unbounded)
    case "duration":
      return typed(Type.duration, 3, 32)
    case "date":
      return typed(Type.timestamp, 12, 12)
    case "date-time":
      return typed(Type.timestamp, 21, 32)
    default:
  }
  if (maxLength !== undefined) return typed(Type.string, 2, Math.max(0, maxLength) * 4)
  if (values.length === 0) return text
  const lengths = values.map((value) => (typeof value === "string" ? new TextEncoder().encode(value).length : 0))
  return typed(
    Type.string,
    2,
    lengths.reduce((most, one) => Math.max(most, one), 0)
  )
}

/** The schema with what rules may read of every object. */
export const withMetadata = (schema: StructuralSchema): StructuralSchema => {
  const made = complete.get(schema) ?? completed(schema)
  complete.set(schema, made)
  return made
}

/** One for each schema, because what is known of a schema is kept by its identity. */
const complete = new WeakMap<StructuralSchema, StructuralSchema>()

const completed = (schema: StructuralSchema): StructuralSchema => {
  const string: StructuralSchema = { type: "string" }
  const known = propertyOf(schema, "metadata")
  const isComplete = ["name", "generateName"].every(
    (name) => known !== undefined && propertyOf(known, name)?.type === "string"
  )
  const names: StructuralSchema = { type: "object", properties: { name: string, generateName: string } }
  const metadata = known !== undefined && isComplete ? known : names
  return { ...schema, properties: { ...schema.properties, kind: string, apiVersion: string, metadata } }
}

const keywords: ReadonlySet<string> = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return " +
    "var void while"
  ).split(" ")
)

const replacements: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"]
])

/** The name under which expressions read a property; undefined for a property that they cannot read. */
export const escape = (property: string): string | undefined => {
  if (!/^[A-Z_a-z][\w./-]*$/.test(property)) return undefined
  if (keywords.has(property)) return `__${property}__`
  return property.replaceAll(/__|[./-]/g, (found) => replacements.get(found) ?? found)
}

const invalid = (what: string): Failure => new Failure(`invalid data, ${what}`)

/** The value of JSON that a schema describes. */
export const fromSchema = (json: unknown, schema: StructuralSchema): Outcome => {
  if (json === null || json === undefined) {
    return schema.nullable === true ? null : invalid("got null for schema with nullable=false")
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    return typeof json === "string" || typeof json === "number"
      ? fromJson(json)
      : invalid("expected XIntOrString value to be either a string or integer")
  }
  switch (schema.type) {
    case "object":
      if (!isMembers(json)) return invalid("expected a map for the provided schema with type=object")
      return new JsonObject(json, isEmbedded(schema) ? withMetadata(schema) : schema)
    case "array":
      if (!Array.isArray(json)) return invalid("expected an array for the provided schema with type=array")
      return new JsonList(json, schema)
    case "string":
      return typeof json === "string" ? fromText(json, schema) : invalid(`expected string, got ${typeof json}`)
    case "number":
      return typeof json === "number" ? json : invalid(`expected float, got ${typeof json}`)
    case "integer":
      return typeof json === "number" && Number.isInteger(json)
        ? BigInt(json)
        : invalid(`expected int, got ${typeof json}`)
    case "boolean":
      return typeof json === "boolean" ? json : invalid(`expected bool, got ${typeof json}`)
    default:
      return new Unknown(json)
  }
}

const fromText = (json: string, { format }: StructuralSchema): Outcome => {
  switch (format) {
    case "duration": {
      const parsed = parseDuration(json)
      return parsed === undefined ? new Failure(`Invalid duration ${json}`) : new Duration(parsed)
    }
    case "date": {
      const parsed = parseDate(json)
      return parsed === undefined ? new Failure(`Invalid date formatted string ${json}`) : new Timestamp(parsed)
    }
    case "date-time": {
      const parsed = parseDateTime(json)
      return parsed === undefined ? new Failure(`Invalid date-time formatted string ${json}`) : new Timestamp(parsed)
    }
    case "byte":
      return decodeBase64(json) ?? new Failure(`Invalid byte formatted string ${json}`)
    default:
      return json
  }
}

/** The value of JSON about which nothing is known: whole numbers are `int`. */
export const fromJson = (json: unknown): Outcome => {
  if (json === null || json === undefined) return null
  if (typeof json === "string" || typeof json === "boolean" || typeof json === "bigint") return json
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : json
  if (Array.isArray(json)) return new JsonList(json, undefined)
  return isMembers(json) ? new JsonObject(json, undefined) : invalid(`got ${typeof json}`)
}

/** The schema of a member, and the name it has in JSON. */
type Reader = (name: string) => readonly [property: string, schema: StructuralSchema | undefined] | undefined

const readers = new WeakMap<StructuralSchema, Reader>()

const readerOf = (schema: StructuralSchema): Reader => {
  const found = readers.get(schema)
  if (found !== undefined) return found
  const additional = additionalOf(schema)
  const names = new Map<string, readonly [string, StructuralSchema]>()
  for (const [property, of] of Object.entries(schema.properties ?? {})) {
    const escaped = escape(property)
    if (escaped !== undefined) names.set(escaped, [property, of])
  }
  const reader: Reader =
    schema.properties === undefined && additional !== undefined
      ? (name) => [name, additional]
      : (name) => names.get(name)
  readers.set(schema, reader)
  return reader
}

/** An object of fields, or a map; of any members where nothing is known. */
class JsonObject extends Mapping {
  private read = new Map<string, Outcome>()
  readonly members: Members
  private readonly schema: StructuralSchema | undefined

  constructor(members: Members, schema: StructuralSchema | undefined) {
    super()
    this.members = members
    this.schema = schema
  }

  get size(): number {
    return this.keys.length
  }

  get keys(): ReadonlyArray<Value> {
    const names = Object.keys(this.members)
    const { schema } = this
    if (schema?.properties === undefined) return names
    return names.flatMap((name) => {
      const escaped = propertyOf(schema, name) === undefined ? undefined : escape(name)
      return escaped === undefined ? [] : [escaped]
    })
  }

  get(key: Value): Outcome | undefined {
    if (typeof key !== "string") return undefined
    const before = this.read.get(key)
    if (before !== undefined) return before
    const place = this.schema === undefined ? ([key, undefined] as const) : readerOf(this.schema)(key)
    if (place === undefined) return undefined
    const [name, schema] = place
    const json = member(this.members, name)
    if (json === undefined) return undefined
    const value = schema === undefined ? fromJson(json) : fromSchema(json, schema)
    this.read.set(key, value)
    return value
  }
}

class JsonList extends List {
  private read: Array<Outcome> = []
  readonly json: ReadonlyArray<unknown>
  private readonly schema: StructuralSchema | undefined

  constructor(json: ReadonlyArray<unknown>, schema: StructuralSchema | undefined) {
    super()
    this.json = json
    this.schema = schema
  }

  get size(): number {
    return this.json.length
  }

  at(index: number): Outcome {
    const before = this.read[index]
    if (before !== undefined) return before
    const items = this.schema?.items
    const json = this.json[index]
    const value = items === undefined ? fromJson(json) : fromSchema(json, items)
    this.read[index] = value
    return value
  }

  override equalsUnordered(other: List, meter: Meter): boolean | undefined {
    const key = this.identity()
    if (key === undefined) return undefined
    const left = elementsOf(this)
    const right = elementsOf(other)
    if (left instanceof Failure || right instanceof Failure) return false
    const known = new Map(left.map((one) => [key(one), one] as const))
    return right.every((one) => {
      const same = known.get(key(one))
      return same !== undefined && equals(same, one, meter)
    })
  }

  /** A set has the union of both, a map the elements of the second in the places of those with the same key. */
  override merged(other: List): Outcome | undefined {
    const key = this.identity()
    if (key === undefined) return undefined
    const left = elementsOf(this)
    const right = elementsOf(other)
    if (left instanceof Failure) return left
    if (right instanceof Failure) return right
    const elements = new Map(left.map((one) => [key(one), one] as const))
    for (const one of right) elements.set(key(one), one)
    return new Items([...elements.values()])
  }

  private identity(): ((element: Value) => string) | undefined {
    const kind = this.schema?.["x-kubernetes-list-type"]
    if (kind === "set") return keyOf
    if (kind !== "map") return undefined
    const names = (this.schema?.["x-kubernetes-list-map-keys"] ?? []).map((name) => escape(name) ?? name)
    return (element) =>
      element instanceof Mapping ? JSON.stringify(names.map((name) => keyOf(element.get(name) ?? null))) : ""
  }
}

/** A text that differs for scalars that differ. */
const keyOf = (value: Outcome): string =>
  typeof value === "object" ? canonical(value) : `${typeof value} ${String(value)}`

/** A value that the schema does not describe: it can only be compared. */
class Unknown extends Opaque {
  readonly typeName = "unknown"
  private readonly json: unknown

  constructor(json: unknown) {
    super()
    this.json = json
  }

  equals(other: Opaque): boolean {
    return other instanceof Unknown && canonical(this.json) === canonical(other.json)
  }
}
