/**
 * Texts: the functions of the standard and of the strings extension, counted in characters. Whoever makes a longer text pays for it before
 * it is made. Source: cel-go common/types/string.go, ext/strings.go.
 */
import { compile } from "../../structural/pattern.ts"
import * as Type from "../Type.ts"
import { codePoints, Failure, Items } from "../Value.ts"
import type { Meter, Outcome, List } from "../Value.ts"
import { fn, method } from "./define.ts"
import type { Definition } from "./define.ts"
import { format } from "./formatting.ts"
import { findAll } from "./search.ts"

const { bool, dyn, int, string } = Type
const strings = Type.list(string)

const outOfRange = (index: bigint): Failure => new Failure(`index out of range: ${index}`)

const characters = (text: string): ReadonlyArray<string> => Array.from(text)

const charAt = (text: string, index: bigint): Outcome => {
  const all = characters(text)
  return index < 0n || index > BigInt(all.length) ? outOfRange(index) : (all[Number(index)] ?? "")
}

/** The index in characters, of an index in UTF-16 units. */
const counted = (text: string, index: number): bigint => (index === -1 ? -1n : BigInt(codePoints(text.slice(0, index))))

const unitsBefore = (text: string, count: bigint): number =>
  characters(text)
    .slice(0, Number(count))
    .reduce((sum, one) => sum + one.length, 0)

const indexOf = (text: string, part: string, from: bigint): Outcome => {
  if (part === "") return from
  if (from < 0n) return outOfRange(from)
  if (from >= BigInt(codePoints(text))) return -1n
  return counted(text, text.indexOf(part, unitsBefore(text, from)))
}

const lastIndexOf = (text: string, part: string, from: bigint): Outcome => {
  if (part === "") return from
  if (from < 0n) return outOfRange(from)
  if (from >= BigInt(codePoints(text))) return -1n
  return counted(text, text.lastIndexOf(part, unitsBefore(text, from)))
}

const substring = (text: string, start: bigint, end: bigint | undefined): Outcome => {
  const all = characters(text)
  const length = BigInt(all.length)
  const to = end ?? length
  if (end !== undefined && start > end) {
    return new Failure(`invalid substring range. start: ${start}, end: ${end}`)
  }
  if (start < 0n || start > length) return outOfRange(start)
  if (to < 0n || to > length) return outOfRange(to)
  return all.slice(Number(start), Number(to)).join("")
}

const tooLong = new Failure("operation cancelled: actual cost limit exceeded", true)

/** The longest text that a function may make, in UTF-16 units. */
const longest = 16_000_000

const replace = (text: string, part: string, by: string, most: bigint): Outcome => {
  const pieces = part === "" ? ["", ...characters(text), ""] : text.split(part)
  const count = most < 0n ? pieces.length - 1 : Math.min(Number(most), pieces.length - 1)
  if (text.length + count * by.length > longest) return tooLong
  return (
    pieces.slice(0, count + 1).join(by) +
    pieces
      .slice(count + 1)
      .map((piece) => part + piece)
      .join("")
  )
}

const split = (text: string, separator: string, most: bigint): Outcome => {
  if (most === 0n) return new Items([])
  const pieces = separator === "" ? characters(text) : text.split(separator)
  if (most < 0n || BigInt(pieces.length) <= most) return new Items([...pieces])
  const count = Number(most) - 1
  return new Items([...pieces.slice(0, count), pieces.slice(count).join(separator)])
}

const join = (list: List, separator: string): Outcome => {
  const parts: Array<string> = []
  let length = 0
  for (let index = 0; index < list.size; index += 1) {
    const part = list.at(index)
    if (typeof part !== "string") return part instanceof Failure ? part : new Failure("join: invalid input")
    length += part.length + separator.length
    if (length > longest) return tooLong
    parts.push(part)
  }
  return parts.join(separator)
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"']
])

const quote = (text: string): string =>
  `"${characters(text)
    .map((one) => escapes.get(one) ?? (/^[\uD800-\uDFFF]$/.test(one) ? "\uFFFD" : one))
    .join("")}"`

const space = "[\\t-\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]"
const leading = new RegExp(`^${space}+`)
const isSpace = new RegExp(space)

/** Without white space, as Go has it, at both ends. */
const trim = (text: string): string => {
  let end = text.length
  while (end > 0 && isSpace.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end).replace(leading, "")
}

const ascii =
  (pattern: RegExp, change: (letters: string) => string) =>
  (text: string): string =>
    text.replaceAll(pattern, change)

/** A text against a regular expression; a malformed one is a failure. The length of the program counts besides that of its text. */
const matching =
  (run: (text: string, pattern: string) => Outcome) =>
  (text: string, pattern: string, meter: Meter): Outcome => {
    const { problem, program } = compile(pattern)
    if (problem !== undefined) return new Failure(problem)
    meter.work += (text.length + 1) * (1 + (program?.numInst() ?? 0) / 8)
    return meter.isExceeded ? tooLong : run(text, pattern)
  }

const find = matching((text, pattern) => findAll(pattern, text, 1)[0] ?? "")

export const texts: ReadonlyArray<Definition> = [
  method("contains", "contains_string", [string, string], bool, (text: string, part: string) => text.includes(part)),
  method("endsWith", "ends_with_string", [string, string], bool, (text: string, part: string) => text.endsWith(part)),
  method("startsWith", "starts_with_string", [string, string], bool, (text: string, part: string) =>
    text.startsWith(part)
  ),
  method(
    "matches",
    "matches_string",
    [string, string],
    bool,
    matching((text, pattern) => compile(pattern).test(text))
  ),
  fn(
    "matches",
    "matches",
    [string, string],
    bool,
    matching((text, pattern) => compile(pattern).test(text))
  ),
  method("find", "string_find_string", [string, string], string, find),
  method(
    "findAll",
    "string_find_all_string",
    [string, string],
    strings,
    matching((text, pattern) => new Items([...findAll(pattern, text, -1)]))
  ),
  method(
    "findAll",
    "string_find_all_string_int",
    [string, string, int],
    strings,
    (text: string, pattern: string, most: bigint, meter: Meter) =>
      matching((of, by) => new Items([...findAll(by, of, Number(most))]))(text, pattern, meter)
  ),
  method("charAt", "string_char_at_int", [string, int], string, charAt),
  method("indexOf", "string_index_of_string", [string, string], int, (text: string, part: string) =>
    indexOf(text, part, 0n)
  ),
  method("indexOf", "string_index_of_string_int", [string, string, int], int, indexOf),
  method("lastIndexOf", "string_last_index_of_string", [string, string], int, (text: string, part: string) =>
    part === "" ? BigInt(codePoints(text)) : counted(text, text.lastIndexOf(part))
  ),
  method("lastIndexOf", "string_last_index_of_string_int", [string, string, int], int, lastIndexOf),
  method(
    "lowerAscii",
    "string_lower_ascii",
    [string],
    string,
    ascii(/[A-Z]+/g, (text) => text.toLowerCase())
  ),
  method(
    "upperAscii",
    "string_upper_ascii",
    [string],
    string,
    ascii(/[a-z]+/g, (text) => text.toUpperCase())
  ),
  method(
    "replace",
    "string_replace_string_string",
    [string, string, string],
    string,
    (a: string, b: string, c: string) => replace(a, b, c, -1n)
  ),
  method("replace", "string_replace_string_string_int", [string, string, string, int], string, replace),
  method("split", "string_split_string", [string, string], strings, (text: string, by: string) => split(text, by, -1n)),
  method("split", "string_split_string_int", [string, string, int], strings, split),
  method("substring", "string_substring_int", [string, int], string, (text: string, start: bigint) =>
    substring(text, start, undefined)
  ),
  method(
    "substring",
    "string_substring_int_int",
    [string, int, int],
    string,
    (text: string, start: bigint, end: bigint) => substring(text, start, end)
  ),
  method("trim", "string_trim", [string], string, trim),
  method("format", "string_format", [string, Type.list(dyn)], string, (text: string, args: List, meter: Meter) =>
    format(text, args, meter)
  ),
  fn("strings.quote", "strings_quote", [string], string, quote),
  method("join", "list_join", [strings], string, (list: List) => join(list, "")),
  method("join", "list_join_string", [strings, string], string, join)
]
