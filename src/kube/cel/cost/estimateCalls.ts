/**
 * What calls may cost at worst, and how large their results may be. Source: cel-go checker/cost.go functionCost, ext/{lists,sets}.go,
 * apiserver pkg/cel/library/cost.go EstimateCallCost.
 */
import { checkCost, listCost, perCharacter, perPatternCharacter } from "./cost.ts"
import type { Declared } from "../declare.ts"
import type { Expr } from "../syntax/Expr.ts"
import * as range from "./range.ts"
import type { Range } from "./range.ts"
import type * as Type from "../Type.ts"

export interface Argument {
  readonly type: Type.Type
  readonly size: Range
  /** What a schema says of the elements of a list. */
  readonly element: Declared | undefined
  readonly expr: Expr
}

export interface Estimate {
  readonly cost: Range
  /** Of the result, where it is a text, a list or a map. */
  readonly size?: Range | undefined
}

type Estimator = (on: {
  readonly id: string
  readonly target: Argument | undefined
  readonly args: ReadonlyArray<Argument>
}) => Estimate | undefined

const one: Estimate = { cost: range.fixed(1) }

const sizeOf = (argument: Argument | undefined): Range => argument?.size ?? range.unknown

const reading = (size: Range, factor = 1): Range => range.scale(size, factor * perCharacter)

/** Reads its first argument, or its target if it is a method. */
const readsArgument: Estimator = ({ args: [first] }) => ({ cost: reading(sizeOf(first)) })
const readsTwice: Estimator = ({ args: [first] }) => ({ cost: reading(sizeOf(first), 2) })
const copiesTarget: Estimator = ({ target }) =>
  target === undefined ? undefined : { cost: reading(target.size), size: target.size }
const copiesArgument: Estimator = ({ args: [first] }) => ({ cost: reading(sizeOf(first)), size: sizeOf(first) })

const matching = (text: Argument | undefined, pattern: Argument | undefined): Range =>
  range.multiply(reading(range.add(sizeOf(text), range.fixed(1))), range.scale(sizeOf(pattern), perPatternCharacter))

const isText = (type: Type.Type | undefined): boolean => type?.kind === "string" || type?.kind === "bytes"

const elementType = ({ type }: Argument): Type.Type | undefined => (type.kind === "list" ? type.params[0] : undefined)

const elementSize = ({ element, type }: Argument): Range => {
  if (element !== undefined) return { min: 0, max: element.most }
  return type.kind === "list" && !isText(type.params[0]) ? range.fixed(1) : range.unknown
}

const traversing: Estimator = ({ target }) => {
  if (target === undefined) return undefined
  const element = elementType(target)
  if (element === undefined) return { cost: reading(target.size) }
  const perElement = isText(element) ? range.add(range.fixed(1), reading(elementSize(target))) : range.fixed(1)
  return { cost: range.multiply(target.size, perElement) }
}

/** How often the text can be replaced at most and at least, and what stays of it. */
const replaced: Estimator = ({ args: [part, by], target }) => {
  if (target === undefined) return undefined
  const { size } = target
  const of = sizeOf(part)
  const into = sizeOf(by)
  const isShorter = into.max <= of.min
  const most = of.min === 0 ? [size.max + 1, size.max] : isShorter ? [0, size.max] : [Math.ceil(size.max / of.min), 0]
  const isLonger = of.max <= into.min
  const least = of.max === 0 ? [size.min + 1, size.min] : isLonger ? [0, size.min] : [Math.ceil(size.min / of.max), 0]
  const [maxCount = 0, maxKept = 0] = most
  const [minCount = 0, minKept = 0] = least
  const count = { min: minCount, max: maxCount }
  const kept = { min: minKept, max: maxKept }
  return { cost: reading(size, 2), size: range.add(range.multiply(count, into), kept) }
}

const literalInt = (argument: Argument | undefined): number | undefined =>
  argument?.expr.kind === "literal" && typeof argument.expr.value === "bigint"
    ? Math.max(0, Number(argument.expr.value))
    : undefined

const splitting: Estimator = ({ args: [, limit], target }) =>
  target === undefined
    ? undefined
    : { cost: reading(target.size, 2), size: { min: 0, max: literalInt(limit) ?? target.size.max } }

const joining: Estimator = ({ args: [separator], target }) => {
  if (target === undefined) return undefined
  const { max, min } = target.size
  const separators = { min: Math.max(0, min - 1), max: Math.max(0, max - 1) }
  const elements = range.multiply(target.size, elementSize(target))
  const size = separator === undefined ? elements : range.add(elements, range.multiply(sizeOf(separator), separators))
  return { cost: reading(size), size }
}

const finding: Estimator = ({ args: [pattern], target }) =>
  target === undefined ? undefined : { cost: matching(target, pattern), size: { min: 0, max: target.size.max } }

/** Octets of an address. */
const address: Range = { min: 4, max: 16 }

const containing =
  (isNetwork: boolean): Estimator =>
  ({ args: [other], id }) => {
    const own = reading(range.add(address, address))
    const network = isNetwork ? range.add(reading(address), range.fixed(1)) : range.fixed(0)
    const text = id.endsWith("_string") ? reading(sizeOf(other)) : range.fixed(0)
    return { cost: range.sum([own, network, text]) }
  }

const selecting: Estimator = ({ args: [selector] }) => {
  const size = sizeOf(selector)
  const requirements = range.scale(range.scale(size, 0.5), listCost + 40)
  return { cost: range.sum([range.fixed(listCost), reading(size), requirements]) }
}

/** The longest name format, as an expression. */
const formatSize = 128

const validating: Estimator = ({ args: [text] }) => ({
  cost: range.scale(reading(sizeOf(text)), formatSize * perPatternCharacter)
})

/** Makes a list. */
const allocating = (size: Range, factor = 1): Estimate => ({
  cost: range.add(range.scale(size, factor), range.fixed(1 + listCost)),
  size
})

const sorting =
  (ofKeys: boolean): Estimator =>
  ({ args: [keys], target }) => {
    const list = ofKeys ? keys : target
    if (list === undefined) return undefined
    return allocating(range.multiply(list.size, list.size), isText(elementType(list)) ? 2 + perCharacter : 2)
  }

const pairs =
  (factor: number): Estimator =>
  ({ args: [left, right] }) => ({
    cost: range.add(range.scale(range.multiply(sizeOf(left), sizeOf(right)), factor), range.fixed(1))
  })

const comparing: Estimator = ({ args: [left, right] }) => {
  const max = Math.min(sizeOf(left).max, sizeOf(right).max)
  return { cost: reading({ min: max > 0 ? 1 : 0, max }) }
}

const equality: Estimator = (on) => {
  const [left, right] = on.args
  const isSame = left?.type.kind === "opaque" && right?.type.kind === "opaque" && left.type.name === right.type.name
  if (!isSame || left.type.kind !== "opaque" || left.type.name === "optional_type") return comparing(on)
  if (left.type.name === "kubernetes.NamedFormat") return { cost: reading({ min: 1, max: 64 }) }
  return left.type.name === "kubernetes.URL" ? { cost: reading(range.fixed(1)) } : one
}

const adding: Estimator = ({ args: [left, right], id }) => {
  const size = range.add(sizeOf(left), sizeOf(right))
  if (id === "add_list") return { cost: range.fixed(1), size }
  return id === "add_string" || id === "add_bytes" ? { cost: reading(size), size } : undefined
}

const byName: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ["check", () => ({ cost: range.fixed(checkCost) })],
  ["fieldSelector", selecting],
  ["labelSelector", selecting],
  ...["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [name, traversing] as const),
  ["url", copiesArgument],
  ...["lowerAscii", "upperAscii", "substring", "trim"].map((name) => [name, copiesTarget] as const),
  ["replace", replaced],
  ["split", splitting],
  ["join", joining],
  ["find", finding],
  ["findAll", finding],
  ...["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"].map(
    (name) => [name, readsArgument] as const
  ),
  ["ip", (on) => (on.id === "cidr_ip" ? one : readsArgument(on))],
  ["ip.isCanonical", readsTwice],
  ["containsIP", containing(false)],
  ["containsCIDR", containing(true)],
  ["validate", validating],
  ["_==_", equality],
  ["_!=_", comparing],
  ["_+_", adding],
  ["sets.contains", pairs(1)],
  ["sets.intersects", pairs(1)],
  ["sets.equivalent", pairs(2)],
  [
    "slice",
    ({ args: [start, end], target }) =>
      allocating(range.fixed((literalInt(end) ?? sizeOf(target).max) - (literalInt(start) ?? 0)))
  ],
  ["lists.range", ({ args: [count] }) => allocating(range.fixed(literalInt(count) ?? range.unknown.max))],
  ["reverse", ({ target }) => (target === undefined ? undefined : allocating(target.size))],
  [
    "flatten",
    ({ args: [depth], target }) =>
      target === undefined
        ? undefined
        : allocating(target.size, depth === undefined ? 1 : (literalInt(depth) ?? range.unknown.max))
  ],
  [
    "distinct",
    ({ target }) => (target === undefined ? undefined : allocating(range.multiply(target.size, target.size), 2))
  ],
  ["sort", sorting(false)],
  ["@sortByAssociatedKeys", sorting(true)]
])

const byId: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  [
    "strings_quote",
    ({ args: [text] }) => {
      const { max, min } = sizeOf(text)
      return { cost: reading(sizeOf(text)), size: { min: min + 2, max: max * 2 + 2 } }
    }
  ],
  ["string_format", ({ target }) => ({ cost: reading(sizeOf(target)) })],
  ["string_to_bytes", ({ args: [text] }) => ({ cost: reading(sizeOf(text)), size: range.scale(sizeOf(text), 4) })],
  [
    "bytes_to_string",
    ({ args: [octets] }) => {
      const { max, min } = sizeOf(octets)
      return { cost: reading(sizeOf(octets)), size: { min: Math.floor(min / 4), max } }
    }
  ],
  ...["starts_with_string", "ends_with_string"].map((id) => [id, readsArgument] as const),
  ["in_list", ({ args: [, list] }) => ({ cost: sizeOf(list) })],
  ["matches_string", ({ args: [pattern], target }) => ({ cost: matching(target, pattern) })],
  [
    "contains_string",
    ({ args: [part], target }) => ({
      cost: range.multiply(reading(sizeOf(target)), reading(sizeOf(part)))
    })
  ],
  ...["less", "less_equals", "greater", "greater_equals"].flatMap((id) => [
    [`${id}_string`, comparing] as const,
    [`${id}_bytes`, comparing] as const
  ])
])

/** The cost of one overload of a function, without that of its arguments. */
export const costOfCall = (
  name: string,
  id: string,
  target: Argument | undefined,
  args: ReadonlyArray<Argument>
): Estimate => (byId.get(id) ?? byName.get(name))?.({ id, target, args }) ?? one
