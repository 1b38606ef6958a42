/**
 * Quantities of resources: `100m`, `1.5`, `2Gi`, `1e3`. An amount is an integer of billionths (nano), the finest unit of the API, so
 * arithmetic is exact. `canonical` is the text with which the API server answers. Source: apimachinery api/resource.
 */

const pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]{1,3})?$/

const nano = 1_000_000_000n

/** Nano units in a thousandth. */
const perMilli = 1_000_000n

const decimal = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const
const binary = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n } as const

export interface Quantity {
  /** Billionths; finer amounts are rounded up. */
  readonly nanos: bigint
  readonly form: "decimal" | "binary" | "exponent"
}

const isBinary = (suffix: string): suffix is keyof typeof binary => Object.hasOwn(binary, suffix)
const isDecimal = (suffix: string): suffix is keyof typeof decimal => Object.hasOwn(decimal, suffix)

/** Parsed texts, because thousands of objects have the same few. When it is full, the next text empties it. */
const parsedTexts = new Map<string, Quantity | undefined>()
const maxParsedTexts = 1024

/** Undefined when the text is no quantity. Numbers of JSON are quantities too. */
export const parse = (value: unknown): Quantity | undefined => {
  const text = typeof value === "number" ? String(value) : value
  if (typeof text !== "string" || text.length > 64) return undefined
  const found = parsedTexts.get(text)
  if (found !== undefined || parsedTexts.has(text)) return found
  const quantity = parseText(text)
  if (parsedTexts.size >= maxParsedTexts) parsedTexts.clear()
  parsedTexts.set(text, quantity)
  return quantity
}

const parseText = (text: string): Quantity | undefined => {
  const match = pattern.exec(text)
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? []
  if (match === null || whole.length + fraction.length === 0) return undefined
  const digits = BigInt(`${whole}${fraction}` || "0")
  const places = BigInt(fraction.length)
  const scaled = isBinary(suffix)
    ? { digits: digits << binary[suffix], power: 9n - places }
    : { digits, power: 9n - places + BigInt(isDecimal(suffix) ? decimal[suffix] : Number(suffix.slice(1))) }
  const nanos =
    scaled.power >= 0n ? scaled.digits * 10n ** scaled.power : divideRoundingUp(scaled.digits, 10n ** -scaled.power)
  return {
    nanos: sign === "-" ? -nanos : nanos,
    form: isBinary(suffix) ? "binary" : isDecimal(suffix) ? "decimal" : "exponent"
  }
}

const divideRoundingUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const

/** The shortest form without a fraction, in the family of suffixes the amount was written in. */
export const canonical = ({ form, nanos }: Quantity): string => {
  if (nanos === 0n) return "0"
  const sign = nanos < 0n ? "-" : ""
  let amount = nanos < 0n ? -nanos : nanos
  if (form === "binary" && amount % nano === 0n && amount / nano >= 1024n) {
    amount /= nano
    let step = 0
    while (amount % 1024n === 0n && step < binarySuffixes.length - 1) {
      amount /= 1024n
      step++
    }
    return `${sign}${amount}${binarySuffixes[step]}`
  }
  let step = 0
  while (amount % 1000n === 0n && step < decimalSuffixes.length - 1) {
    amount /= 1000n
    step++
  }
  if (form !== "exponent") return `${sign}${amount}${decimalSuffixes[step]}`
  const power = -9 + step * 3
  return `${sign}${amount}${power === 0 ? "" : `e${power}`}`
}

/** Thousandths, rounded up; undefined when the text is no quantity. Source: resource.Quantity.MilliValue. */
export const milli = (value: unknown): bigint | undefined => {
  const parsed = parse(value)
  return parsed === undefined ? undefined : thousandths(parsed)
}

/** Thousandths, rounded up. */
export const thousandths = ({ nanos }: Quantity): bigint => {
  const whole = nanos / perMilli
  return nanos > whole * perMilli ? whole + 1n : whole
}

/** The canonical text of so many thousandths: `1500m`, `2`; `50Mi` in the binary form. */
export const ofMilli = (amount: bigint, form: Quantity["form"] = "decimal"): string =>
  canonical({ nanos: amount * perMilli, form })

/** Below zero, zero, above; undefined when either is no quantity. */
export const compare = (a: unknown, b: unknown): number | undefined => {
  const left = parse(a)
  const right = parse(b)
  if (left === undefined || right === undefined) return undefined
  return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0
}

/** A count. */
export const whole = (count: number): Quantity => ({ nanos: BigInt(count) * nano, form: "decimal" })

/** The sum, in the form of the first amount that is not zero. Undefined counts as zero. */
export const plus = (a: Quantity | undefined, b: Quantity): Quantity =>
  a === undefined || a.nanos === 0n ? b : { nanos: a.nanos + b.nanos, form: a.form }

/** The next whole number. */
export const roundUp = ({ form, nanos }: Quantity): Quantity => ({
  nanos: (nanos < 0n ? nanos / nano : divideRoundingUp(nanos, nano)) * nano,
  form
})

export const isNegative = (value: unknown): boolean => (parse(value)?.nanos ?? 0n) < 0n
