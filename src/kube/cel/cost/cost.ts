/**
 * What calls cost at run time, in the units by which the API server limits expressions: mostly one per call, and for calls that read a whole
 * text or list a share of its size. Source: cel-go interpreter/runtimecost.go, apiserver pkg/cel/library/cost.go.
 */
import { Failure, List, Mapping, Opaque, sizeOf } from "../Value.ts"
import type { Value } from "../Value.ts"

export const listCost = 10
export const mapCost = 30
const structCost = 40
/** Per character that is read. */
export const perCharacter = 0.1
/** Per character of a regular expression. */
export const perPatternCharacter = 0.25
export const checkCost = 350_000

type Cost = (args: ReadonlyArray<Value>, result: Value | undefined) => number

const size = (args: ReadonlyArray<Value>, index: number): number => {
  const value = args[index]
  return value === undefined ? 1 : sizeOf(value)
}

const share = (count: number, factor = 1): number => Math.ceil(count * factor * perCharacter)

const reading =
  (index: number, factor = 1): Cost =>
  (args) =>
    share(size(args, index), factor)

const matching: Cost = (args) => share(1 + size(args, 0)) * Math.ceil(size(args, 1) * perPatternCharacter)

const shorter: Cost = (args) => share(Math.min(size(args, 0), size(args, 1)))

/** Of values that are compared at a fixed cost. */
const equality: Cost = (args, result) => (args[0] instanceof Opaque ? 1 : shorter(args, result))

/** Parsing a selector, and the requirements that it can have. */
export const selectorCost = (length: number): number =>
  listCost + share(length) + Math.ceil(Math.ceil(length * 0.5) * (listCost + structCost))

const containsAddress =
  (isCidr: boolean, isText: boolean): Cost =>
  (args) => {
    const own = size(args, 0)
    return share(own, 2) + (isCidr ? share(own) + 1 : 0) + (isText ? share(size(args, 1)) : 0)
  }

/** Every part of the value, as texts and numbers. */
const traversal = (value: Value): number => {
  if (typeof value === "string") return Math.floor(new TextEncoder().encode(value).length * perCharacter)
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter)
  let sum = 0
  if (value instanceof List) {
    for (let index = 0; index < value.size; index += 1) {
      const element = value.at(index)
      if (!(element instanceof Failure)) sum += traversal(element)
    }
    return sum
  }
  if (!(value instanceof Mapping)) return 1
  for (const key of value.keys) {
    const element = value.get(key)
    sum += traversal(key) + (element === undefined || element instanceof Failure ? 0 : traversal(element))
  }
  return sum
}

const traversing: Cost = ([value]) => (value === undefined ? 0 : traversal(value))

/** Every element of one list with every one of the other. */
const pairs =
  (factor: number): Cost =>
  (args) =>
    size(args, 0) * size(args, 1) * factor + 1

/** Makes a list: in proportion to a size, and for the call and the list. */
const allocating =
  (count: (args: ReadonlyArray<Value>, result: Value | undefined) => number): Cost =>
  (args, result) =>
    Math.floor(count(args, result)) + 1 + listCost

const ofResult = allocating((_args, result) => (result === undefined ? 1 : sizeOf(result)))

/** Compares the elements with each other. */
const squared = (index: number): Cost =>
  allocating((args) => {
    const list = args[index]
    const first = list instanceof List && list.size > 0 ? list.at(0) : undefined
    const isText = typeof first === "string" || first instanceof Uint8Array
    return size(args, index) ** 2 * (isText ? 2 + perCharacter : 2)
  })

const byName: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ["check", () => checkCost],
  ["fieldSelector", (args) => selectorCost(size(args, 1))],
  ["labelSelector", (args) => selectorCost(size(args, 1))],
  ...["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [name, traversing] as const),
  ...["url", "lowerAscii", "upperAscii", "substring", "trim"].map((name) => [name, reading(0)] as const),
  ...["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"].map(
    (name) => [name, reading(0)] as const
  ),
  ["replace", reading(0, 2)],
  ["split", reading(0, 2)],
  ["join", (_args, result) => (result === undefined ? 1 : share(sizeOf(result), 2))],
  ["find", matching],
  ["findAll", matching],
  ["ip.isCanonical", reading(0, 2)],
  ["validate", (args) => share(1 + size(args, 1)) * Math.ceil(formatOf(args[0]) * perPatternCharacter)],
  ["_==_", equality],
  ["_!=_", shorter],
  ["slice", ofResult],
  ["lists.range", ofResult],
  ["reverse", ofResult],
  ["flatten", allocating((args) => size(args, 0) * (typeof args[1] === "bigint" ? Number(args[1]) : 1))],
  ["distinct", squared(0)],
  ["sort", squared(0)],
  ["@sortByAssociatedKeys", squared(1)],
  ["sets.contains", pairs(1)],
  ["sets.intersects", pairs(1)],
  ["sets.equivalent", pairs(2)]
])

/** The length of the longest expression by which a named format is checked. */
const formatOf = (value: Value | undefined): number =>
  value !== undefined && typeof value === "object" && value instanceof Opaque ? value.costSize : 1

const byId: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ...["starts_with_string", "ends_with_string"].map((id) => [id, reading(0)] as const),
  ...["string_to_bytes", "bytes_to_string", "string_format", "strings_quote"].map((id) => [id, reading(0)] as const),
  ["in_list", (args) => size(args, 1)],
  ...["less", "less_equals", "greater", "greater_equals"].flatMap((id) => [
    [`${id}_string`, shorter] as const,
    [`${id}_bytes`, shorter] as const
  ]),
  ["add_string", (args) => share(size(args, 0) + size(args, 1))],
  ["add_bytes", (args) => share(size(args, 0) + size(args, 1))],
  ["matches_string", matching],
  ["contains_string", (args) => share(size(args, 0)) * share(size(args, 1))],
  ["string_to_ip", reading(0)],
  ["cidr_contains_ip_string", containsAddress(false, true)],
  ["cidr_contains_ip_ip", containsAddress(false, false)],
  ["cidr_contains_cidr_string", containsAddress(true, true)],
  ["cidr_contains_cidr", containsAddress(true, false)]
])

const one: Cost = () => 1

/** The cost of a call of a function. */
export const costOf = (name: string, id: string): Cost => byId.get(id) ?? byName.get(name) ?? one
