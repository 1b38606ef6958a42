/**
 * The operators: arithmetic that refuses to overflow, comparison across the types of numbers, indexes and membership. Equality, the logical
 * operators and indexes have only their types here; the evaluation has their rules. Source: cel-go common/stdlib, common/types.
 */
import * as Type from "../Type.ts"
import {
  codePoints,
  compareNumbers,
  Duration,
  equals,
  Failure,
  inInt,
  inUint,
  Items,
  List,
  Timestamp,
  Uint
} from "../Value.ts"
import type { Meter, Outcome, Value, Mapping } from "../Value.ts"
import { fn, method } from "./define.ts"
import type { Definition } from "./define.ts"

const A = Type.param("A")
const B = Type.param("B")
const listA = Type.list(A)
const mapAB = Type.map(A, B)
const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = Type

const overflow = (what: string): Failure => new Failure(`${what} overflow`)
const asInt = (value: bigint): Outcome => (inInt(value) ? value : overflow("integer"))
const asUint = (value: bigint): Outcome => (inUint(value) ? new Uint(value) : overflow("unsigned integer"))
const asDuration = (value: bigint): Outcome => (inInt(value) ? new Duration(value) : overflow("duration"))

/** From the year 1 to the year 9999. */
export const asTimestamp = (value: bigint): Outcome =>
  value >= -62_135_596_800_000_000_000n && value < 253_402_300_800_000_000_000n
    ? new Timestamp(value)
    : overflow("timestamp")

type Binary = (one: bigint, other: bigint) => bigint

const arithmetic = (name: string, id: string, run: Binary): ReadonlyArray<Definition> => [
  fn(name, `${id}_int64`, [int, int], int, (a: bigint, b: bigint) => asInt(run(a, b))),
  fn(name, `${id}_uint64`, [uint, uint], uint, (a: Uint, b: Uint) => asUint(run(a.value, b.value)))
]

const dividing = (name: string, id: string, zero: string, run: Binary): ReadonlyArray<Definition> => [
  fn(name, `${id}_int64`, [int, int], int, (a: bigint, b: bigint) => (b === 0n ? new Failure(zero) : asInt(run(a, b)))),
  fn(name, `${id}_uint64`, [uint, uint], uint, (a: Uint, b: Uint) =>
    b.value === 0n ? new Failure(zero) : asUint(run(a.value, b.value))
  )
]

const floating = (name: string, id: string, run: (a: number, b: number) => number): Definition =>
  fn(name, `${id}_double`, [double, double], double, run)

export const addLists = (a: List, b: List): Outcome => {
  const merged = a.merged(b)
  if (merged !== undefined) return merged
  return (a instanceof Items ? a : new Items([])).concat(a instanceof Items ? b : new Sum(a, b))
}

/** Two lists behind each other. */
class Sum extends List {
  private readonly first: List
  private readonly second: List

  constructor(first: List, second: List) {
    super()
    this.first = first
    this.second = second
  }

  get size(): number {
    return this.first.size + this.second.size
  }

  at(index: number): Outcome {
    return index < this.first.size ? this.first.at(index) : this.second.at(index - this.first.size)
  }
}

const concatBytes = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const sum = new Uint8Array(a.length + b.length)
  sum.set(a)
  sum.set(b, a.length)
  return sum
}

const additions: ReadonlyArray<Definition> = [
  ...arithmetic("_+_", "add", (a, b) => a + b),
  floating("_+_", "add", (a, b) => a + b),
  fn("_+_", "add_string", [string, string], string, (a: string, b: string) => a + b),
  fn("_+_", "add_bytes", [bytes, bytes], bytes, concatBytes),
  fn("_+_", "add_list", [listA, listA], listA, (a: List, b: List, meter: Meter) => {
    // What is copied counts as work; appending to a list that grows copies only what is appended.
    meter.work += b.size
    return addLists(a, b)
  }),
  fn("_+_", "add_duration_duration", [duration, duration], duration, (a: Duration, b: Duration) =>
    asDuration(a.nanoseconds + b.nanoseconds)
  ),
  fn("_+_", "add_duration_timestamp", [duration, timestamp], timestamp, (a: Duration, b: Timestamp) =>
    asTimestamp(a.nanoseconds + b.nanoseconds)
  ),
  fn("_+_", "add_timestamp_duration", [timestamp, duration], timestamp, (a: Timestamp, b: Duration) =>
    asTimestamp(a.nanoseconds + b.nanoseconds)
  )
]

const subtractions: ReadonlyArray<Definition> = [
  ...arithmetic("_-_", "subtract", (a, b) => a - b),
  floating("_-_", "subtract", (a, b) => a - b),
  fn("_-_", "subtract_duration_duration", [duration, duration], duration, (a: Duration, b: Duration) =>
    asDuration(a.nanoseconds - b.nanoseconds)
  ),
  fn("_-_", "subtract_timestamp_duration", [timestamp, duration], timestamp, (a: Timestamp, b: Duration) =>
    asTimestamp(a.nanoseconds - b.nanoseconds)
  ),
  fn("_-_", "subtract_timestamp_timestamp", [timestamp, timestamp], duration, (a: Timestamp, b: Timestamp) =>
    asDuration(a.nanoseconds - b.nanoseconds)
  )
]

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const differing = a.findIndex((octet, index) => octet !== b[index])
  if (differing === -1) return a.length - b.length
  return (a[differing] ?? 0) - (b[differing] ?? -1)
}

/** By code point, not by UTF-16 unit. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  let index = 0
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1
  const left = unitOrder(a.charCodeAt(index))
  const right = unitOrder(b.charCodeAt(index))
  if (Number.isNaN(left)) return -1
  return Number.isNaN(right) ? 1 : left - right
}

/** Halves of pairs stand for code points above all others. */
const unitOrder = (unit: number): number => (unit >= 0xd8_00 && unit < 0xe0_00 ? unit + 0x1_00_00 : unit)

/** The order of two values of one type, or of two numbers; undefined where there is none. */
export const order = (a: Value, b: Value): number | undefined => {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b)
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNumbers(a.nanoseconds, b.nanoseconds)
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(a.nanoseconds, b.nanoseconds)
  const isNumber = (value: Value): value is Uint | bigint | number =>
    typeof value === "bigint" || typeof value === "number" || value instanceof Uint
  return isNumber(a) && isNumber(b) ? compareNumbers(a, b) : undefined
}

const comparable: ReadonlyArray<readonly [string, Type.Type, Type.Type]> = [
  ["bool", bool, bool],
  ["int64", int, int],
  ["int64_double", int, double],
  ["int64_uint64", int, uint],
  ["uint64", uint, uint],
  ["uint64_double", uint, double],
  ["uint64_int64", uint, int],
  ["double", double, double],
  ["double_int64", double, int],
  ["double_uint64", double, uint],
  ["string", string, string],
  ["bytes", bytes, bytes],
  ["timestamp", timestamp, timestamp],
  ["duration", duration, duration]
]

const comparison = (name: string, id: string, holds: (order: number) => boolean): ReadonlyArray<Definition> =>
  comparable.map(([suffix, left, right]) =>
    fn(name, `${id}_${suffix}`, [left, right], bool, (a: Value, b: Value) => {
      const compared = order(a, b)
      return compared !== undefined && holds(compared)
    })
  )

/** Never called: the evaluation has the rules. */
const elsewhere = (): Outcome => new Failure("no such overload")

const negations: ReadonlyArray<Definition> = [
  fn("!_", "logical_not", [bool], bool, (value: boolean) => !value),
  fn("-_", "negate_int64", [int], int, (value: bigint) => asInt(-value)),
  fn("-_", "negate_double", [double], double, (value: number) => -value)
]

const sizes: ReadonlyArray<Definition> = (
  [
    ["string", string, (value: string) => BigInt(codePoints(value))],
    ["bytes", bytes, (value: Uint8Array) => BigInt(value.length)],
    ["list", listA, (value: List) => BigInt(value.size)],
    ["map", mapAB, (value: Mapping) => BigInt(value.size)]
  ] as ReadonlyArray<readonly [string, Type.Type, (value: Value) => bigint]>
).flatMap(([suffix, type, run]) => [
  fn("size", `size_${suffix}`, [type], int, run),
  method("size", `${suffix}_size`, [type], int, run)
])

export const operators: ReadonlyArray<Definition> = [
  fn("_?_:_", "conditional", [bool, A, A], A, elsewhere),
  fn("_&&_", "logical_and", [bool, bool], bool, elsewhere),
  fn("_||_", "logical_or", [bool, bool], bool, elsewhere),
  fn("@not_strictly_false", "not_strictly_false", [bool], bool, elsewhere),
  fn("_==_", "equals", [A, A], bool, elsewhere),
  fn("_!=_", "not_equals", [A, A], bool, elsewhere),
  fn("_[_]", "index_list", [listA, int], A, elsewhere),
  fn("_[_]", "index_map", [mapAB, A], B, elsewhere),
  ...negations,
  ...additions,
  ...subtractions,
  ...arithmetic("_*_", "multiply", (a, b) => a * b),
  floating("_*_", "multiply", (a, b) => a * b),
  ...dividing("_/_", "divide", "division by zero", (a, b) => a / b),
  floating("_/_", "divide", (a, b) => a / b),
  ...dividing("_%_", "modulo", "modulus by zero", (a, b) => a % b),
  ...comparison("_<_", "less", (order) => order < 0),
  ...comparison("_<=_", "less_equals", (order) => order <= 0),
  ...comparison("_>_", "greater", (order) => order > 0),
  ...comparison("_>=_", "greater_equals", (order) => order >= 0),
  fn("@in", "in_list", [A, listA], bool, (value: Value, list: List, meter: Meter) => {
    for (let index = 0; index < list.size; index += 1) {
      const element = list.at(index)
      if (!(element instanceof Failure) && equals(value, element, meter)) return true
    }
    return false
  }),
  fn("@in", "in_map", [A, mapAB], bool, (key: Value, map: Mapping) => map.get(key) !== undefined),
  ...sizes,
  fn("dyn", "to_dyn", [A], dyn, (value: Value) => value)
]
