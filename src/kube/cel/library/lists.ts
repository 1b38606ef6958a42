/**
 * Lists, sets and optional values: Kubernetes' own functions, and those of the lists and sets extensions.
 * Source: apiserver pkg/cel/library/lists.go, cel-go ext/{lists,sets,comprehensions}.go, cel/library.go.
 */
import * as Type from "../Type.ts"
import {
  Duration,
  elementsOf,
  Entries,
  equals,
  Failure,
  Items,
  List,
  Mapping,
  Optional,
  Timestamp,
  Uint
} from "../Value.ts"
import type { Meter, Outcome, Value } from "../Value.ts"
import { fn, method } from "./define.ts"
import type { Definition } from "./define.ts"
import { operators, order } from "./operators.ts"

const { bool, bytes, double, duration, int, string, timestamp, uint } = Type
const A = Type.param("A")
const B = Type.param("B")
const listA = Type.list(A)
const mapAB = Type.map(A, B)
const optionalA = Type.optional(A)

const comparable: ReadonlyArray<readonly [string, Type.Type]> = [
  ["int", int],
  ["uint", uint],
  ["double", double],
  ["bool", bool],
  ["duration", duration],
  ["timestamp", timestamp],
  ["string", string],
  ["bytes", bytes]
]

const onElements =
  (run: (elements: ReadonlyArray<Value>) => Outcome) =>
  (list: List): Outcome => {
    const elements = elementsOf(list)
    return elements instanceof Failure ? elements : run(elements)
  }

const isSorted = onElements((elements) =>
  elements.every((element, index) => {
    const before = index === 0 ? element : elements[index - 1]
    return before !== undefined && (order(before, element) ?? 0) <= 0
  })
)

const extreme = (name: "max" | "min") =>
  onElements((elements) => {
    const sign = name === "max" ? 1 : -1
    const [first] = elements
    if (first === undefined) return new Failure(`${name} called on empty list`)
    return elements.reduce((best, one) => ((order(one, best) ?? 0) * sign > 0 ? one : best), first)
  })

const plus = operators.filter(({ name }) => name === "_+_")

const sum = (zero: Value, id: string) => {
  const add = plus.find((overload) => overload.id === id)
  return (list: List, meter: Meter): Outcome => {
    let total: Outcome = zero
    for (let index = 0; index < list.size; index += 1) {
      const element = list.at(index)
      if (total instanceof Failure) return total
      if (element instanceof Failure) return element
      total = add?.run([total, element], meter) ?? total
    }
    return total
  }
}

const summable: ReadonlyArray<readonly [string, Type.Type, Value, string]> = [
  ["int", int, 0n, "add_int64"],
  ["uint", uint, new Uint(0n), "add_uint64"],
  ["double", double, 0, "add_double"],
  ["duration", duration, new Duration(0n), "add_duration_duration"]
]

const search =
  (isLast: boolean) =>
  (list: List, wanted: Value, meter: Meter): Outcome => {
    const { size } = list
    for (let step = 0; step < size; step += 1) {
      const index = isLast ? size - 1 - step : step
      const element = list.at(index)
      if (!(element instanceof Failure) && equals(element, wanted, meter)) return BigInt(index)
      if (meter.isExceeded) break
    }
    return -1n
  }

const slice = (list: List, start: bigint, end: bigint): Outcome => {
  const what = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) return new Failure(`${what}, negative indexes not supported`)
  if (start > end) return new Failure(`${what}, start index must be less than or equal to end index`)
  if (BigInt(list.size) < end) return new Failure(`${what}, list is length ${list.size}`)
  return onElements((elements) => new Items(elements.slice(Number(start), Number(end))))(list)
}

const exceeded = new Failure("operation cancelled: actual cost limit exceeded", true)

const flatten = (list: List, depth: bigint, meter: Meter): Outcome => {
  if (depth < 0n) return new Failure("level must be non-negative")
  const flat: Array<Value> = []
  const visit = (of: List, left: bigint): Failure | undefined => {
    for (let index = 0; index < of.size; index += 1) {
      const element = of.at(index)
      if (element instanceof Failure) return element
      meter.work += 1
      if (meter.isExceeded) return exceeded
      if (!(element instanceof List) || left === 0n) flat.push(element)
      else {
        const failed = visit(element, left - 1n)
        if (failed !== undefined) return failed
      }
    }
    return undefined
  }
  return visit(list, depth) ?? new Items(flat)
}

const sortBy = (list: List, keys: List): Outcome => {
  const elements = elementsOf(list)
  const by = elementsOf(keys)
  if (elements instanceof Failure) return elements
  if (by instanceof Failure) return by
  const indexes = by.map((_, index) => index)
  indexes.sort((one, other) => {
    const left = by[one]
    const right = by[other]
    return left === undefined || right === undefined ? 0 : (order(left, right) ?? 0)
  })
  return new Items(indexes.flatMap((index) => elements[index] ?? null))
}

/** The longest list that `lists.range` makes: what a list in one evaluation may cost. */
const longestRange = 1_000_000n

const range = (count: bigint): Outcome =>
  count > longestRange
    ? exceeded
    : new Items(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)))

const contains = (list: List, value: Value, meter: Meter): boolean => search(false)(list, value, meter) !== -1n

const every = (list: List, holds: (element: Value) => boolean): boolean => {
  const elements = elementsOf(list)
  return !(elements instanceof Failure) && elements.every(holds)
}

const containsAll = (list: List, other: List, meter: Meter): boolean =>
  every(other, (element) => contains(list, element, meter))

const distinct = (list: List, meter: Meter): Outcome =>
  onElements((elements) => {
    const kept: Array<Value> = []
    for (const element of elements) {
      if (!kept.some((one) => equals(one, element, meter))) kept.push(element)
      if (meter.isExceeded) return exceeded
    }
    return new Items(kept)
  })(list)

const sets: ReadonlyArray<Definition> = [
  fn("sets.contains", "list_sets_contains_list", [listA, listA], bool, containsAll),
  fn(
    "sets.equivalent",
    "list_sets_equivalent_list",
    [listA, listA],
    bool,
    (a: List, b: List, meter: Meter) => containsAll(a, b, meter) && containsAll(b, a, meter)
  ),
  fn(
    "sets.intersects",
    "list_sets_intersects_list",
    [listA, listA],
    bool,
    (a: List, b: List, meter: Meter) => !every(a, (element) => !contains(b, element, meter))
  )
]

const insert = (map: Mapping, key: Value, value: Value): Outcome =>
  map instanceof Entries ? map.with(key, value) : new Failure("no such overload")

const insertAll = (map: Mapping, more: Mapping): Outcome => {
  let grown: Outcome = map
  for (const key of more.keys) {
    const value = more.get(key)
    if (value instanceof Failure) return value
    if (grown instanceof Mapping) grown = insert(grown, key, value ?? null)
  }
  return grown
}

const isZero = (value: Value): boolean => {
  if (value === null || value === false || value === 0 || value === 0n || value === "") return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Duration) return value.nanoseconds === 0n
  // The first moment of the year one.
  if (value instanceof Timestamp) return value.nanoseconds === -62_135_596_800_000_000_000n
  if (value instanceof List || value instanceof Mapping) return value.size === 0
  return (
    (value instanceof Uint8Array && value.length === 0) || (value instanceof Optional && value.content === undefined)
  )
}

const end =
  (isLast: boolean) =>
  (list: List): Outcome => {
    if (list.size === 0) return Optional.none
    const element = list.at(isLast ? list.size - 1 : 0)
    return element instanceof Failure ? element : new Optional(element)
  }

const unwrap = onElements((elements) =>
  elements.every((element) => element instanceof Optional)
    ? new Items(elements.flatMap(({ content }) => (content === undefined ? [] : [content])))
    : new Failure("value is not optional")
)

const optionals: ReadonlyArray<Definition> = [
  fn("optional.of", "optional_of", [A], optionalA, (value: Value) => new Optional(value)),
  fn("optional.ofNonZeroValue", "optional_ofNonZeroValue", [A], optionalA, (value: Value) =>
    isZero(value) ? Optional.none : new Optional(value)
  ),
  fn("optional.none", "optional_none", [], optionalA, () => Optional.none),
  fn("optional.unwrap", "optional_unwrap", [Type.list(optionalA)], listA, unwrap),
  method("unwrapOpt", "optional_unwrapOpt", [Type.list(optionalA)], listA, unwrap),
  method("value", "optional_value", [optionalA], A, ({ content }: Optional) =>
    content === undefined ? new Failure("optional.none() dereference") : content
  ),
  method("hasValue", "optional_hasValue", [optionalA], bool, ({ content }: Optional) => content !== undefined),
  method("first", "list_first", [listA], optionalA, end(false)),
  method("last", "list_last", [listA], optionalA, end(true)),
  fn("_[_]", "optional_list_index_int", [Type.optional(listA), int], optionalA, () => Optional.none),
  fn("_[_]", "optional_map_index_value", [Type.optional(mapAB), A], Type.optional(B), () => Optional.none),
  fn("_[?_]", "list_optindex_optional_int", [listA, int], optionalA, () => Optional.none),
  fn("_[?_]", "optional_list_optindex_optional_int", [Type.optional(listA), int], optionalA, () => Optional.none),
  fn("_[?_]", "map_optindex_optional_value", [mapAB, A], Type.optional(B), () => Optional.none),
  fn("_[?_]", "optional_map_optindex_optional_value", [Type.optional(mapAB), A], Type.optional(B), () => Optional.none),
  // What they yield is decided without the second argument, so the evaluation has their rules.
  method("or", "optional_or_optional", [optionalA, optionalA], optionalA, (a: Optional, b: Optional) =>
    a.content === undefined ? b : a
  ),
  method("orValue", "optional_orValue_value", [optionalA, A], A, (a: Optional, b: Value) =>
    a.content === undefined ? b : a.content
  )
]

export const lists: ReadonlyArray<Definition> = [
  ...comparable.flatMap(([name, type]) => [
    method("isSorted", `list_${name}_is_sorted_bool`, [Type.list(type)], bool, isSorted),
    method("max", `list_${name}_max_${name}`, [Type.list(type)], type, extreme("max")),
    method("min", `list_${name}_min_${name}`, [Type.list(type)], type, extreme("min")),
    method("sort", `list_${name}_sort`, [Type.list(type)], Type.list(type), (list: List) => sortBy(list, list)),
    method("@sortByAssociatedKeys", `list_${name}_sortByAssociatedKeys`, [listA, Type.list(type)], listA, sortBy)
  ]),
  ...summable.map(([name, type, zero, id]) =>
    method("sum", `list_${name}_sum_${name}`, [Type.list(type)], type, sum(zero, id))
  ),
  method("indexOf", "list_a_index_of_int", [listA, A], int, search(false)),
  method("lastIndexOf", "list_a_last_index_of_int", [listA, A], int, search(true)),
  method("slice", "list_slice", [listA, int, int], listA, slice),
  method("flatten", "list_flatten", [Type.list(listA)], listA, (list: List, meter: Meter) => flatten(list, 1n, meter)),
  method("flatten", "list_flatten_int", [Type.list(Type.dyn), int], Type.list(Type.dyn), flatten),
  method(
    "reverse",
    "list_reverse",
    [listA],
    listA,
    onElements((elements) => new Items(elements.toReversed()))
  ),
  method("distinct", "list_distinct", [listA], listA, distinct),
  fn("lists.range", "lists_range", [int], Type.list(int), range),
  fn("cel.@mapInsert", "@mapInsert_map_map", [mapAB, mapAB], mapAB, insertAll),
  fn("cel.@mapInsert", "@mapInsert_map_key_value", [mapAB, A, B], mapAB, insert),
  ...sets,
  ...optionals
]
