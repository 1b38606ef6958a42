/**
 * The values of CEL at run time. JSON has one type of number and CEL has three: an `int` is a bigint, a `double` a number, a `uint` has a class
 * of its own. A failed operation is a value too, because the logical operators may absorb it. Source: cel-go common/types.
 */

/** Why an evaluation has no value. A fatal one ends the evaluation: no operator absorbs it. */
export class Failure {
  readonly message: string
  readonly isFatal: boolean

  constructor(message: string, isFatal = false) {
    this.message = message
    this.isFatal = isFatal
  }
}

export type Value =
  | bigint
  | boolean
  | null
  | number
  | string
  | Uint8Array
  | Duration
  | List
  | Mapping
  | Opaque
  | Optional
  | Timestamp
  | TypeValue
  | Uint

export type Outcome = Failure | Value

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** A moment in nanoseconds since 1970. */
export class Timestamp {
  readonly nanoseconds: bigint

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

export class Duration {
  readonly nanoseconds: bigint

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

/** What `type(x)` yields. */
export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  static readonly none = new Optional(undefined)
  readonly content: Value | undefined

  constructor(content: Value | undefined) {
    this.content = content
  }
}

/** A value of a library, such as a quantity: it has a type, and an equality of its own. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Opaque): boolean
  /** Whether it can be on the right side of `==`. */
  get isComparand(): boolean {
    return true
  }
  /** What `size` would be for the cost of calls with it; 1 for a value of fixed size. */
  get costSize(): number {
    return 1
  }
}

export abstract class List {
  abstract readonly size: number
  abstract at(index: number): Outcome
  /** Where the schema makes the list a set or a map, its own equality; undefined for a list in order. */
  equalsUnordered(_other: List, _meter: Meter): boolean | undefined {
    return undefined
  }
  /** Where the schema makes the list a set or a map, its own sum. */
  merged(_other: List): Outcome | undefined {
    return undefined
  }
}

/** Objects too, which have their fields as keys. */
export abstract class Mapping {
  abstract readonly size: number
  abstract readonly keys: ReadonlyArray<Value>
  /** Undefined where the key is not there. */
  abstract get(key: Value): Outcome | undefined
}

/**
 * A list that expressions make. Lists that grow from each other share one array, so that a comprehension that appends an element per step is
 * linear: a list is the first elements of the array, and only the longest one may append in place.
 */
export class Items extends List {
  readonly size: number
  private readonly shared: Array<Value>

  constructor(shared: Array<Value>, size = shared.length) {
    super()
    this.shared = shared
    this.size = size
  }

  at(index: number): Outcome {
    return index < this.size ? (this.shared[index] ?? null) : new Failure(`index out of bounds: ${index}`)
  }

  concat(other: List): Outcome {
    const shared = this.size === this.shared.length ? this.shared : this.shared.slice(0, this.size)
    const { size } = other
    for (let index = 0; index < size; index += 1) {
      const element = other.at(index)
      if (element instanceof Failure) return element
      shared.push(element)
    }
    return new Items(shared)
  }
}

/** All elements, or the first failure. */
export const elementsOf = (list: List): Array<Value> | Failure => {
  const elements: Array<Value> = []
  for (let index = 0; index < list.size; index += 1) {
    const element = list.at(index)
    if (element instanceof Failure) return element
    elements.push(element)
  }
  return elements
}

/** A map that expressions make. Maps that grow from each other share their entries, as lists do. */
export class Entries extends Mapping {
  readonly size: number
  private readonly shared: Map<string, readonly [key: Value, value: Value, index: number]>

  private constructor(shared: Map<string, readonly [Value, Value, number]>, size = shared.size) {
    super()
    this.shared = shared
    this.size = size
  }

  static of(pairs: ReadonlyArray<readonly [Value, Value]>): Failure | Mapping {
    let map: Entries | Failure = new Entries(new Map())
    for (const [key, value] of pairs) {
      map = map.with(key, value)
      if (map instanceof Failure) return map
    }
    return map
  }

  /** With one key more; one that is there already is a failure. */
  with(key: Value, value: Value): Entries | Failure {
    const text = keyText(key)
    if (text === undefined) return new Failure(`unsupported key type: ${typeName(key)}`)
    if (this.entry(text) !== undefined) return new Failure(`insert failed: key ${text.slice(1)} already exists`)
    const isLongest = this.size === this.shared.size
    const shared = isLongest ? this.shared : new Map([...this.shared].filter(([, [, , index]]) => index < this.size))
    shared.set(text, [key, value, this.size])
    return new Entries(shared)
  }

  get keys(): ReadonlyArray<Value> {
    const keys: Array<Value> = []
    for (const [key, , index] of this.shared.values()) if (index < this.size) keys.push(key)
    return keys
  }

  get(key: Value): Value | undefined {
    const text = keyText(key)
    return text === undefined ? undefined : this.entry(text)?.[1]
  }

  private entry(text: string): readonly [Value, Value, number] | undefined {
    const found = this.shared.get(text)
    return found !== undefined && found[2] < this.size ? found : undefined
  }
}

/** The same for keys that are equal; undefined for a value that cannot be a key. */
const keyText = (key: Value): string | undefined => {
  if (typeof key === "string") return `s${key}`
  if (typeof key === "boolean") return `b${key}`
  if (typeof key === "bigint") return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  return typeof key === "number" && Number.isInteger(key) ? `n${BigInt(key)}` : undefined
}

/** An object whose fields are computed when they are read. */
export class Fields extends Mapping {
  private readonly names: ReadonlyArray<string>
  private readonly read: (name: string) => Outcome

  constructor(names: ReadonlyArray<string>, read: (name: string) => Outcome) {
    super()
    this.names = names
    this.read = read
  }

  get size(): number {
    return this.names.length
  }

  get keys(): ReadonlyArray<Value> {
    return this.names
  }

  get(key: Value): Outcome | undefined {
    return typeof key === "string" && this.names.includes(key) ? this.read(key) : undefined
  }
}

/** What an evaluation has spent: the cost that the API server counts, and the steps of work that this program bounds besides. */
export class Meter {
  cost = 0
  work = 0
  readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get isExceeded(): boolean {
    return this.cost > this.limit || this.work > maxWork
  }
}

/** Steps in one evaluation that have no cost of their own: comparing the parts of two values, say. */
const maxWork = 20_000_000

const minInt = -(2n ** 63n)
const maxInt = 2n ** 63n - 1n
const maxUint = 2n ** 64n - 1n

export const inInt = (value: bigint): boolean => value >= minInt && value <= maxInt
export const inUint = (value: bigint): boolean => value >= 0n && value <= maxUint

/** The name of the value's type, as `type(x)` and messages have it. */
export const typeName = (value: Value): string => {
  if (value === null) return "null_type"
  if (typeof value === "bigint") return "int"
  if (typeof value === "number") return "double"
  if (typeof value === "boolean") return "bool"
  if (typeof value === "string") return "string"
  if (value instanceof Uint) return "uint"
  if (value instanceof Uint8Array) return "bytes"
  if (value instanceof List) return "list"
  if (value instanceof Mapping) return "map"
  if (value instanceof Timestamp) return "google.protobuf.Timestamp"
  if (value instanceof Duration) return "google.protobuf.Duration"
  if (value instanceof TypeValue) return "type"
  return value instanceof Optional ? "optional_type" : value.typeName
}

/** The size that `size(x)` and the cost of calls count with; 1 for values without. */
export const sizeOf = (value: Value): number => {
  if (typeof value === "string") return codePoints(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof List || value instanceof Mapping) return value.size
  if (value instanceof Opaque) return value.costSize
  return value instanceof Optional && value.content !== undefined ? sizeOf(value.content) : 1
}

export const codePoints = (text: string): number => {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd8_00 && unit < 0xdc_00) index += 1
    count += 1
  }
  return count
}

type Numeric = bigint | number | Uint

export const isNumeric = (value: Value): value is Numeric =>
  typeof value === "bigint" || typeof value === "number" || value instanceof Uint

/** Numbers of all three types have one order. Undefined if one is not a number. */
export const compareNumbers = (one: Numeric, other: Numeric): number | undefined => {
  const left = one instanceof Uint ? one.value : one
  const right = other instanceof Uint ? other.value : other
  if (typeof left === typeof right) return compareSame(left, right)
  // Within the range of integers, an integer is compared as the floating-point number next to it.
  const whole = typeof left === "bigint" ? left : right
  const real = Number(typeof left === "bigint" ? right : left)
  const compared = real > 2 ** 64 ? -1 : real < -(2 ** 63) ? 1 : compareSame(Number(whole), real)
  return compared === undefined || typeof left === "bigint" ? compared : -compared
}

const compareSame = (left: bigint | number, right: bigint | number): number | undefined => {
  if (left < right) return -1
  if (left > right) return 1
  return left === right ? 0 : undefined
}

/** Values of different types are not equal, but for numbers, which are compared by value. */
export const equals = (one: Value, other: Value, meter: Meter): boolean => {
  meter.work += 1
  if (meter.isExceeded) return false
  if (isNumeric(one)) return isNumeric(other) && compareNumbers(one, other) === 0
  if (typeof one === "string" && typeof other === "string") {
    meter.work += one.length / 16
    return one === other
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other
  if (one instanceof List) return other instanceof List && listEquals(one, other, meter)
  if (one instanceof Mapping) return other instanceof Mapping && mappingEquals(one, other, meter)
  if (one instanceof Uint8Array) return other instanceof Uint8Array && bytesEqual(one, other)
  if (one instanceof Timestamp) return other instanceof Timestamp && one.nanoseconds === other.nanoseconds
  if (one instanceof Duration) return other instanceof Duration && one.nanoseconds === other.nanoseconds
  if (one instanceof TypeValue) return other instanceof TypeValue && one.name === other.name
  if (one instanceof Optional) return other instanceof Optional && optionalEquals(one, other, meter)
  return one instanceof Opaque && other instanceof Opaque && one.typeName === other.typeName && one.equals(other)
}

/** A value of a library has no equality with values of other types, as in the server: `==` fails with them, and `!=` holds. */
export const areComparable = (one: Value, other: Value): boolean =>
  !(one instanceof Opaque) || (other instanceof Opaque && one.typeName === other.typeName && other.isComparand)

const bytesEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((octet, index) => octet === other[index])

const optionalEquals = (one: Optional, other: Optional, meter: Meter): boolean =>
  one.content === undefined || other.content === undefined
    ? one.content === other.content
    : equals(one.content, other.content, meter)

const listEquals = (one: List, other: List, meter: Meter): boolean => {
  if (one.size !== other.size) return false
  const unordered = one.equalsUnordered(other, meter)
  if (unordered !== undefined) return unordered
  for (let index = 0; index < one.size; index += 1) {
    const left = one.at(index)
    const right = other.at(index)
    if (left instanceof Failure || right instanceof Failure || !equals(left, right, meter)) return false
  }
  return true
}

const mappingEquals = (one: Mapping, other: Mapping, meter: Meter): boolean =>
  one.size === other.size &&
  one.keys.every((key) => {
    const left = one.get(key)
    const right = other.get(key)
    if (left === undefined || right === undefined || left instanceof Failure || right instanceof Failure) return false
    return equals(left, right, meter)
  })
