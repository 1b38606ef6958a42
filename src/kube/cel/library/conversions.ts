/** Conversions between the scalar types, and `type`. Source: cel-go common/stdlib, common/types. */
import * as Type from "../Type.ts"
import { Duration, Failure, inInt, inUint, Timestamp, typeName, TypeValue, Uint } from "../Value.ts"
import type { Outcome, Value } from "../Value.ts"
import { fn } from "./define.ts"
import type { Definition } from "./define.ts"
import { asTimestamp } from "./operators.ts"
import { formatDuration, formatTimestamp, parseDateTime, parseDuration, secondsOf } from "./time.ts"

const { bool, bytes, double, duration, int, string, timestamp, uint } = Type

const toInt = (value: bigint): Outcome => (inInt(value) ? value : new Failure("integer overflow"))
const toUint = (value: bigint): Outcome => (inUint(value) ? new Uint(value) : new Failure("unsigned integer overflow"))

const truncated = (value: number): bigint | undefined =>
  Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined

const conversionError = (to: string): Failure => new Failure(`type conversion error from 'string' to '${to}'`)

const wholeNumber = (text: string, pattern: RegExp): bigint | undefined =>
  text.length <= 64 && pattern.test(text) ? BigInt(text.replace("+", "")) : undefined

const textToInt = (text: string): Outcome => {
  const value = wholeNumber(text, /^[+-]?\d+$/)
  return value === undefined || !inInt(value) ? conversionError("int") : value
}

const textToUint = (text: string): Outcome => {
  const value = wholeNumber(text, /^\d+$/)
  return value === undefined || !inUint(value) ? conversionError("uint") : new Uint(value)
}

const textToDouble = (text: string): Outcome => {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d+)?$/.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : conversionError("double")
  }
  const special = /^([+-]?)(?:inf|infinity|nan)$/i.exec(text)
  if (special === null) return conversionError("double")
  if (/nan/i.test(text)) return Number.NaN
  return special[1] === "-" ? -Infinity : Infinity
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const)
])

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (octets: Uint8Array): Outcome => {
  try {
    return decoder.decode(octets)
  } catch {
    return new Failure("invalid UTF-8 in bytes, cannot convert to string")
  }
}

/** As Go formats a number with `%g` and the least digits. */
export const formatDouble = (value: number): string => {
  if (Number.isNaN(value)) return "NaN"
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf"
  if (Object.is(value, -0)) return "-0"
  const exponent = Math.floor(Math.log10(Math.abs(value)))
  if (value !== 0 && (exponent < -4 || exponent >= 21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2")
  }
  return String(value)
}

export const formatScalar = (value: Value): string | undefined => {
  if (typeof value === "string") return value
  if (typeof value === "number") return formatDouble(value)
  if (typeof value === "bigint" || typeof value === "boolean") return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  return value instanceof Duration ? formatDuration(value) : undefined
}

const fromDouble = (value: number, convert: (whole: bigint) => Outcome, what: string): Outcome => {
  const whole = truncated(value)
  return whole === undefined ? new Failure(`${what} overflow`) : convert(whole)
}

const toTexts = (
  [
    ["int64", int],
    ["uint64", uint],
    ["double", double],
    ["bool", bool],
    ["string", string],
    ["timestamp", timestamp],
    ["duration", duration]
  ] as const
).map(([id, type]) =>
  fn(
    "string",
    id === "string" ? "string_to_string" : `${id}_to_string`,
    [type],
    string,
    (value: Value) => formatScalar(value) ?? new Failure("no such overload")
  )
)

export const conversions: ReadonlyArray<Definition> = [
  fn("type", "type", [Type.param("A")], Type.typeOf(Type.param("A")), (value: Value) => new TypeValue(typeName(value))),
  fn("bool", "bool_to_bool", [bool], bool, (value: boolean) => value),
  fn("bool", "string_to_bool", [string], bool, (text: string) => booleans.get(text) ?? conversionError("bool")),
  fn("bytes", "bytes_to_bytes", [bytes], bytes, (value: Uint8Array) => value),
  fn("bytes", "string_to_bytes", [string], bytes, (text: string) => new TextEncoder().encode(text)),
  fn("double", "double_to_double", [double], double, (value: number) => value),
  fn("double", "int64_to_double", [int], double, Number),
  fn("double", "uint64_to_double", [uint], double, (value: Uint) => Number(value.value)),
  fn("double", "string_to_double", [string], double, textToDouble),
  fn("int", "int64_to_int64", [int], int, (value: bigint) => value),
  fn("int", "uint64_to_int64", [uint], int, (value: Uint) => toInt(value.value)),
  fn("int", "double_to_int64", [double], int, (value: number) =>
    Math.abs(value) >= 2 ** 63 ? new Failure("integer overflow") : fromDouble(value, toInt, "integer")
  ),
  fn("int", "string_to_int64", [string], int, textToInt),
  fn("int", "timestamp_to_int64", [timestamp], int, secondsOf),
  fn("int", "duration_to_int64", [duration], int, (value: Duration) => value.nanoseconds),
  fn("uint", "uint64_to_uint64", [uint], uint, (value: Uint) => value),
  fn("uint", "int64_to_uint64", [int], uint, toUint),
  fn("uint", "double_to_uint64", [double], uint, (value: number) => fromDouble(value, toUint, "unsigned integer")),
  fn("uint", "string_to_uint64", [string], uint, textToUint),
  ...toTexts,
  fn("string", "bytes_to_string", [bytes], string, decode),
  fn("duration", "duration_to_duration", [duration], duration, (value: Duration) => value),
  fn("duration", "int64_to_duration", [int], duration, (value: bigint) => new Duration(value)),
  fn("duration", "string_to_duration", [string], duration, (text: string) => {
    const nanoseconds = parseDuration(text)
    return nanoseconds === undefined ? conversionError("google.protobuf.Duration") : new Duration(nanoseconds)
  }),
  fn("timestamp", "timestamp_to_timestamp", [timestamp], timestamp, (value: Timestamp) => value),
  fn("timestamp", "int64_to_timestamp", [int], timestamp, (value: bigint) => asTimestamp(value * 1_000_000_000n)),
  fn("timestamp", "string_to_timestamp", [string], timestamp, (text: string) => {
    const nanoseconds = parseDateTime(text)
    return nanoseconds === undefined ? conversionError("google.protobuf.Timestamp") : asTimestamp(nanoseconds)
  })
]
