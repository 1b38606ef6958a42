/**
 * Quantities of resources, `quantity("1Gi")`. An amount is exact; whether it counts as an integer depends besides on how it is written, as in
 * the server: `quantity("1000m")` and `quantity("1.5Gi")` do not. Source: apiserver pkg/cel/library/quantity.go, apimachinery api/resource.
 */
import * as Quantities from "../../quantity.ts"
import * as Type from "../Type.ts"
import { Failure, inInt, Opaque } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { fn, method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"

/** An amount that the server keeps in 64 bits: `value` times ten to the power of `scale`. */
interface Fixed {
  readonly value: bigint
  readonly scale: number
}

class Quantity extends Opaque {
  readonly typeName = "kubernetes.Quantity"
  /** Billionths. */
  readonly nanos: bigint
  /** Undefined for an amount that the server keeps as a decimal of any size. */
  readonly fixed: Fixed | undefined
  readonly isComputed: boolean

  constructor(nanos: bigint, fixed: Fixed | undefined, isComputed = false) {
    super()
    this.nanos = nanos
    this.fixed = fixed
    this.isComputed = isComputed
  }

  /** A sum or a difference has no equality on the right side, as in the server. */
  override get isComparand(): boolean {
    return !this.isComputed
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && compareAmounts(this, other) === 0n
  }
}

const nano = 1_000_000_000n
const quantityType = Type.opaque("kubernetes.Quantity")
const { bool, double, int, string } = Type

const compareAmounts = (a: Quantity, b: Quantity): bigint => (a.nanos === b.nanos ? 0n : a.nanos < b.nanos ? -1n : 1n)

const suffixes: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18]
])
const binarySuffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]

const fixedOf = (text: string): Fixed | undefined => {
  const [, sign = "", whole = "", fraction = "", suffix = ""] = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? []
  const number = whole === "" ? "0" : whole
  const value = BigInt(`${sign === "-" ? "-" : ""}${number}${fraction}`)
  const power = (binarySuffixes.indexOf(suffix) + 1) * 10
  if (power > 0) {
    const precision = 15 - number.length - Math.trunc((power * 3) / 10) - 1
    return fraction === "" && precision >= 0 ? inRange({ value: value << BigInt(power), scale: 0 }) : undefined
  }
  const scale = (suffixes.get(suffix) ?? Number(suffix.slice(1))) - fraction.length
  return number.length + fraction.length <= 18 && scale >= -9 ? { value, scale } : undefined
}

const inRange = (fixed: Fixed): Fixed | undefined => (inInt(fixed.value) ? fixed : undefined)

const withScale = ({ scale, value }: Fixed, to: number): bigint => value * 10n ** BigInt(scale - to)

const sumOf = (a: Fixed | undefined, b: Fixed | undefined): Fixed | undefined => {
  if (a === undefined || b === undefined) return undefined
  if (b.value === 0n) return a
  if (a.value === 0n) return b
  const scale = Math.min(a.scale, b.scale)
  // The server works in 64 bits here, and in decimals where a step leaves them.
  const terms = [withScale(a, scale), withScale(b, scale)] as const
  return terms.every(inInt) ? inRange({ value: terms[0] + terms[1], scale }) : undefined
}

const split = /^[+-]?[\d.]+(?:[EGKMPTeikmnu]+[+-]?\d*|[+-]\d*)?$/

const toQuantity = (text: string): Outcome => {
  const amount = Quantities.parse(text)
  if (amount !== undefined) return new Quantity(amount.nanos, fixedOf(text))
  return new Failure(
    split.test(text) && /\d/.test(text)
      ? "unable to parse quantity's suffix"
      : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  )
}

const asInteger = ({ fixed }: Quantity): bigint | undefined => {
  if (fixed === undefined || fixed.scale < 0) return undefined
  const value = fixed.scale > 18 && fixed.value !== 0n ? undefined : withScale(fixed, 0)
  return value !== undefined && inInt(value) ? value : undefined
}

const plus = (a: Quantity, b: Quantity): Quantity => new Quantity(a.nanos + b.nanos, sumOf(a.fixed, b.fixed), true)

const minus = (a: Quantity, b: Quantity): Quantity =>
  plus(a, new Quantity(-b.nanos, b.fixed && { ...b.fixed, value: -b.fixed.value }))

const whole = (value: bigint): Quantity => new Quantity(value * nano, { value, scale: 0 })

const compared = (name: string, id: string, holds: (order: bigint) => boolean): Definition =>
  method(name, id, [quantityType, quantityType], bool, (a: Quantity, b: Quantity) => holds(compareAmounts(a, b)))

export const quantities: ReadonlyArray<Definition> = [
  fn("quantity", "string_to_quantity", [string], quantityType, toQuantity),
  fn("isQuantity", "is_quantity_string", [string], bool, (text: string) => Quantities.parse(text) !== undefined),
  // Not called on its argument, other than all others here.
  fn("sign", "quantity_sign", [quantityType], int, ({ nanos }: Quantity) =>
    nanos === 0n ? 0n : nanos < 0n ? -1n : 1n
  ),
  compared("isGreaterThan", "quantity_is_greater_than", (order) => order > 0n),
  compared("isLessThan", "quantity_is_less_than", (order) => order < 0n),
  method("compareTo", "quantity_compare_to", [quantityType, quantityType], int, compareAmounts),
  method(
    "asApproximateFloat",
    "quantity_get_float",
    [quantityType],
    double,
    ({ nanos }: Quantity) => Number(nanos) / 1e9
  ),
  method(
    "asInteger",
    "quantity_get_int",
    [quantityType],
    int,
    (quantity: Quantity) => asInteger(quantity) ?? new Failure("cannot convert value to integer")
  ),
  method(
    "isInteger",
    "quantity_is_integer",
    [quantityType],
    bool,
    (quantity: Quantity) => asInteger(quantity) !== undefined
  ),
  method("add", "quantity_add", [quantityType, quantityType], quantityType, plus),
  method("add", "quantity_add_int", [quantityType, int], quantityType, (a: Quantity, b: bigint) => plus(a, whole(b))),
  method("sub", "quantity_sub", [quantityType, quantityType], quantityType, minus),
  method("sub", "quantity_sub_int", [quantityType, int], quantityType, (a: Quantity, b: bigint) => minus(a, whole(b)))
]
