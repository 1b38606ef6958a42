/**
 * Which JSON values the scalars of the type table accept, and the error texts for others. Syntax only; semantics are left to
 * validation. Source: the UnmarshalJSON methods of the API types.
 */
import type { Json } from "../json.ts"
import type { Scalar } from "./types.ts"

const int32 = 2 ** 31

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/
const quantity = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/
const looseQuantity = /^[+-]?\d*(?:\.\d*)?[eEinumkKMGTP]+[-+]?\d*$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export const accepts: Readonly<Record<Scalar, (value: Json) => boolean>> = {
  s: (value) => typeof value === "string",
  y: (value) => typeof value === "string" && base64.test(value),
  i: (value) => Number.isInteger(value) && Number(value) >= -int32 && Number(value) < int32,
  l: (value) => Number.isInteger(value),
  d: (value) => typeof value === "number",
  b: (value) => typeof value === "boolean",
  t: (value) => typeof value === "string" && time.test(value) && outOfRange(value) === undefined,
  u: (value) => typeof value === "string" && microTime.test(value) && outOfRange(value) === undefined,
  x: (value) => typeof value === "string" || accepts.i(value),
  q: (value) => typeof value === "string" && quantity.test(value),
  j: () => true
}

/** The value that null decodes to in a list or map; for times it stays null. */
export const zero: Readonly<Partial<Record<Scalar, Json>>> = { s: "", y: "", i: 0, l: 0, d: 0, b: false, x: 0, q: "0" }

/** The part of a well-formed time that is out of range, as Go's time.Parse names it. */
const outOfRange = (text: string): string | undefined => {
  const month = digits(text, 5)
  if (month < 1 || month > 12) return "month"
  if (digits(text, 11) > 23) return "hour"
  if (digits(text, 14) > 59) return "minute"
  if (digits(text, 17) > 59) return "second"
  const day = digits(text, 8)
  // Every month has 28 days; only later days depend on month and year.
  if (day >= 1 && day <= 28) return undefined
  const year = Number(text.slice(0, 4))
  return day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate() ? "day" : undefined
}

/** The number that the two digits at this index form. */
const digits = (text: string, at: number): number => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48

/** A value in the form that `accepts` requires: quantities as text without spaces, bytes without line ends. */
export const repaired = (scalar: Scalar, value: Json): string | undefined => {
  if (scalar === "q" && typeof value === "number") return String(value)
  if (typeof value !== "string") return undefined
  const text = scalar === "q" ? value.trim() : scalar === "y" ? value.replace(/[\r\n]/g, "") : value
  return accepts[scalar](text) ? text : undefined
}

/** The name of a JSON value in the errors of Go's decoder. */
export const found = (value: Json, scalar?: Scalar): string => {
  if (typeof value === "number") return scalar === "i" || scalar === "l" ? `number ${value}` : "number"
  if (typeof value === "boolean") return "bool"
  if (Array.isArray(value)) return "array"
  return typeof value === "string" ? "string" : "object"
}

/** The error of a type with its own UnmarshalJSON; undefined for other types, where the decoder's error has the field. */
export const complaint = (scalar: Scalar, value: Json): string | undefined => {
  switch (scalar) {
    case "q":
      return typeof value === "string" && looseQuantity.test(value)
        ? "unable to parse quantity's suffix"
        : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    case "t":
    case "u":
      return typeof value === "string"
        ? timeComplaint(scalar, value)
        : `json: cannot unmarshal ${found(value)} into Go value of type string`
    case "x":
      return `json: cannot unmarshal ${found(value, "i")} into Go value of type int32`
    case "y":
      return typeof value === "string" ? `illegal base64 data at input byte ${badByte(value)}` : undefined
    default:
      return undefined
  }
}

const badByte = (text: string): number => {
  const at = text.search(/[^A-Za-z0-9+/]/)
  if (at === -1) return text.length - (text.length % 4)
  // After correct padding, the wrong byte is the one that follows it.
  return at + (at % 4 === 2 && text.startsWith("==", at) ? 2 : at % 4 === 3 && text[at] === "=" ? 1 : 0)
}

const timeParts: ReadonlyArray<readonly [string, RegExp]> = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d\d/],
  ["-", /^-/],
  ["02", /^\d\d/],
  ["T", /^T/],
  ["15", /^\d\d/],
  [":", /^:/],
  ["04", /^\d\d/],
  [":", /^:/],
  ["05", /^\d\d(?:\.\d+)?/],
  ["Z07:00", /^(?:Z|[+-]\d\d:\d\d)/]
]

const microParts: ReadonlyArray<readonly [string, RegExp]> = [
  ...timeParts.slice(0, -2),
  ["05", /^\d\d/],
  [".000000", /^\.\d{6}/],
  ...timeParts.slice(-1)
]

/** The error of Go's time.Parse, which has the first part of the layout that does not match. */
const timeComplaint = (scalar: "t" | "u", text: string): string => {
  const parts = scalar === "t" ? timeParts : microParts
  const layout = parts.map(([part]) => part).join("")
  const start = `parsing time ${JSON.stringify(text)}`
  let rest = text
  for (const [part, pattern] of parts) {
    const match = pattern.exec(rest)
    if (match === null)
      return `${start} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`
    rest = rest.slice(match[0].length)
  }
  return rest === ""
    ? `${start}: ${outOfRange(text) ?? "day"} out of range`
    : `${start}: extra text: ${JSON.stringify(rest)}`
}
