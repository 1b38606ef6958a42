/**
 * `'%d of %s'.format([1, 'a'])`. What it yields is the API server's, including the digits of exponents and the separators of thousands that
 * its locale has. Source: cel-go ext/formatting.go.
 */
import { Duration, elementsOf, Failure, List, Mapping, Timestamp, typeName, TypeValue, Uint } from "../Value.ts"
import type { Meter, Outcome, Value } from "../Value.ts"
import { formatScalar } from "./conversions.ts"

/** Formats each clause with one argument. */
export const format = (text: string, list: List, meter: Meter): Outcome => {
  const args = elementsOf(list)
  if (args instanceof Failure) return args
  const parts: Array<string> = []
  let next = 0
  let at = 0
  while (at < text.length) {
    const mark = text.indexOf("%", at)
    parts.push(text.slice(at, mark === -1 ? undefined : mark))
    if (mark === -1) break
    if (text[mark + 1] === "%") {
      parts.push("%")
      at = mark + 2
      continue
    }
    const value = args[next]
    if (value === undefined) return new Failure(`index ${next} out of range`)
    if (mark + 1 >= text.length) return new Failure("unexpected end of string")
    const read = /^(?:\.(\d+))?([\s\S])/.exec(text.slice(mark + 1, mark + 40))
    const [whole = "", precision, clause = ""] = read ?? []
    if (Number(precision ?? 0) > 1000) return new Failure("could not parse formatting clause: precision too large")
    const part = formatClause(clause, precision === undefined ? 6 : Number(precision), value, meter)
    if (part instanceof Failure) return part
    meter.work += part.length
    if (meter.isExceeded) return new Failure("operation cancelled: actual cost limit exceeded", true)
    parts.push(part)
    next += 1
    at = mark + 1 + whole.length
  }
  return parts.join("")
}

const formatClause = (clause: string, precision: number, value: Value, meter: Meter): Failure | string => {
  switch (clause) {
    case "s":
      return shown(value, meter)
    case "d":
      return whole(value)?.toString() ?? wrong("decimal clause can only be used on integers", value)
    case "f":
      return floating(value, (number) => grouped(fixed(number, precision)))
    case "e":
      return floating(value, (number) => scientific(number, precision))
    case "b":
      return typeof value === "boolean"
        ? String(Number(value))
        : (whole(value)?.toString(2) ?? wrong("only integers and bools can be formatted as binary", value))
    case "o":
      return whole(value)?.toString(8) ?? wrong("octal clause can only be used on integers", value)
    case "x":
      return hex(value)
    case "X": {
      const lower = hex(value)
      return lower instanceof Failure ? lower : lower.toUpperCase()
    }
    default:
      return new Failure(`could not parse formatting clause: unrecognized formatting clause "${clause}"`)
  }
}

const wrong = (what: string, value: Value): Failure =>
  new Failure(`error during formatting: ${what}, was given ${typeName(value)}`)

const whole = (value: Value): bigint | undefined => {
  if (typeof value === "bigint") return value
  return value instanceof Uint ? value.value : undefined
}

const named: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity]
])

const floating = (value: Value, write: (number: number) => string): Failure | string => {
  const number = typeof value === "string" ? named.get(value) : value
  if (typeof number !== "number") return wrong("fixed-point clause can only be used on doubles", value)
  if (Number.isNaN(number)) return "NaN"
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "-∞"
  return write(number)
}

/** Halves are rounded to the even digit, as Go does. */
const fixed = (number: number, precision: number): string => {
  const places = Math.min(precision, 100)
  const text = number.toFixed(places)
  const exact = Math.abs(number).toFixed(Math.min(100, places + 60))
  const tail = exact.slice(exact.indexOf(".") + 1 + places)
  if (!/^50*$/.test(tail) || /[02468]$/.test(text)) return text
  const kept = exact.slice(0, exact.length - tail.length).replace(/\.$/, "")
  return number < 0 ? `-${kept}` : kept
}

const grouped = (text: string): string => {
  const [integer = "", fraction] = text.split(".")
  const sign = integer.startsWith("-") ? "-" : ""
  const digits = integer.slice(sign.length)
  const groups: Array<string> = []
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end))
  const separated = sign + groups.join(",")
  return fraction === undefined ? separated : `${separated}.${fraction}`
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

const scientific = (number: number, precision: number): string => {
  const [mantissa = "", exponent = "0"] = number.toExponential(Math.min(100, precision)).split("e")
  const sign = exponent.startsWith("-") ? "⁻" : ""
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0")
  const raised = Array.from(digits, (digit) => superscripts[Number(digit)] ?? "").join("")
  return `${mantissa}×10${sign}${raised}`
}

const hex = (value: Value): Failure | string => {
  const octets = typeof value === "string" ? new TextEncoder().encode(value) : value
  if (octets instanceof Uint8Array) return Array.from(octets, (one) => one.toString(16).padStart(2, "0")).join("")
  return whole(value)?.toString(16) ?? wrong("only integers, byte buffers, and strings can be formatted as hex", value)
}

/** As `%s` has it. */
const shown = (value: Value, meter: Meter): Failure | string => {
  if (value === null) return "null"
  if (value instanceof List || value instanceof Mapping) return nested(value, meter)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  return (
    formatScalar(value) ??
    wrong(
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
      value
    )
  )
}

/** Inside of a list or a map values are written as an expression has them. */
const nested = (value: Value, meter: Meter): Failure | string => {
  meter.work += 1
  if (meter.isExceeded) return new Failure("operation cancelled: actual cost limit exceeded", true)
  if (value instanceof List) {
    const elements = elementsOf(value)
    if (elements instanceof Failure) return elements
    return gather(
      elements.map((element) => nested(element, meter)),
      "[",
      "]"
    )
  }
  if (value instanceof Mapping) {
    const entries = value.keys.map((key) => {
      const of = value.get(key)
      const left = nested(key, meter)
      const right =
        of === undefined || of instanceof Failure ? (of ?? new Failure("could not find key")) : nested(of, meter)
      return left instanceof Failure || right instanceof Failure ? left : `${left}:${right}`
    })
    return gather(entries.toSorted(byText), "{", "}")
  }
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(6) : JSON.stringify(formatScalar(value))
  if (value instanceof Uint8Array) return `b${JSON.stringify(new TextDecoder().decode(value))}`
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(formatScalar(value))})`
  if (value instanceof Duration) return `duration(${JSON.stringify(formatScalar(value))})`
  return shown(value, meter)
}

/** A failure is found wherever it is. */
const byText = (one: Failure | string, other: Failure | string): number =>
  typeof one === "string" && typeof other === "string" && one < other ? -1 : 1

const gather = (parts: ReadonlyArray<Failure | string>, open: string, close: string): Failure | string =>
  parts.find((part) => part instanceof Failure) ??
  `${open}${parts.filter((part) => typeof part === "string").join(", ")}${close}`
