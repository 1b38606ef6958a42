/**
 * The words of an expression: one pass over the text, in time linear in it. A malformed literal or character is a fault and ends the words.
 * Source: cel-go parser/gen/CEL.g4 and parser/unescape.go.
 */
import type { Fault, Literal } from "./Expr.ts"
import { inInt, inUint, Uint } from "../Value.ts"

export interface Token {
  readonly kind: "end" | "ident" | "literal" | "symbol"
  /** As it is in the text. */
  readonly text: string
  readonly at: number
  /** Of a literal; an integer is read with its sign, which the parser knows. */
  readonly value?: Literal
  readonly digits?: string
}

export interface Words {
  readonly tokens: ReadonlyArray<Token>
  readonly fault?: Fault
}

const space = /[\t\n\f\r ]+|\/\/[^\n]*/y
const ident = /[A-Z_a-z]\w*/y
const number = /0x[\dA-Fa-f]+u?|\d+\.\d+(?:[Ee][+-]?\d+)?|\d+[Ee][+-]?\d+|\.\d+(?:[Ee][+-]?\d+)?|\d+u?/iy
const symbol = /==|!=|<=|>=|&&|\|\||[!%()*+,\-./:<=>?[\]{}]/y
const opening = /(?:[Rr][Bb]?|[Bb][Rr]?)?(?:"""|'''|"|')/y

export const words = (text: string): Words => {
  const tokens: Array<Token> = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  while (at < text.length) {
    const skipped = take(space)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const opened = take(opening)
    if (opened !== undefined) {
      const read = quoted(text, at, opened)
      if ("message" in read) return { tokens, fault: read }
      tokens.push({ kind: "literal", text: text.slice(at, read.end), at, value: read.value })
      at = read.end
      continue
    }
    const digits = take(number)
    if (digits !== undefined) {
      const read = numeric(digits, at)
      if ("message" in read) return { tokens, fault: read }
      tokens.push(read)
      at += digits.length
      continue
    }
    const name = take(ident)
    const found = name ?? take(symbol)
    if (found === undefined) {
      const wrong = String.fromCodePoint(text.codePointAt(at) ?? 0)
      return { tokens, fault: { at, message: `Syntax error: token recognition error at: '${wrong}'` } }
    }
    tokens.push(name === undefined ? { kind: "symbol", text: found, at } : word(name, at))
    at += found.length
  }
  tokens.push({ kind: "end", text: "<EOF>", at: text.length })
  return { tokens }
}

const constants: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ["true", true],
  ["false", false],
  ["null", null]
])

const word = (text: string, at: number): Token => {
  const value = constants.get(text)
  if (value !== undefined) return { kind: "literal", text, at, value }
  return { kind: text === "in" ? "symbol" : "ident", text, at }
}

const numeric = (text: string, at: number): Fault | Token => {
  if (/^[\d.]/.test(text) && !/^0x/i.test(text) && /[.e]/i.test(text)) {
    return { kind: "literal", text, at, value: Number(text) }
  }
  if (!/u$/i.test(text)) return { kind: "literal", text, at, digits: text }
  const value = BigInt(text.slice(0, -1))
  return inUint(value)
    ? { kind: "literal", text, at, value: new Uint(value) }
    : { at, message: "Syntax error: invalid uint literal" }
}

/** The value of an integer; undefined if it has no place in 64 bits. */
export const integer = (digits: string, isNegative: boolean): bigint | undefined => {
  if (digits.length > 40) return undefined
  const value = isNegative ? -BigInt(digits) : BigInt(digits)
  return inInt(value) ? value : undefined
}

const quoted = (
  text: string,
  at: number,
  opened: string
): Fault | { readonly end: number; readonly value: Uint8Array | string } => {
  const prefix = /^[A-Za-z]*/.exec(opened)?.[0].toLowerCase() ?? ""
  const quote = opened.slice(prefix.length)
  const isRaw = prefix.includes("r")
  const isBytes = prefix.includes("b")
  let position = at + opened.length
  const parts: Array<string> = []
  const octets: Array<number> = []
  const put = (code: number): void => {
    if (isBytes) octets.push(...new TextEncoder().encode(String.fromCodePoint(code)))
    else parts.push(String.fromCodePoint(code))
  }
  while (!text.startsWith(quote, position)) {
    const code = text.codePointAt(position)
    if (code === undefined || (quote.length === 1 && (code === 10 || code === 13))) {
      return { at, message: `Syntax error: token recognition error at: '${text.slice(at, position)}'` }
    }
    if (code !== 92 || (isRaw && quote.length === 3)) {
      put(code)
      position += code > 0xff_ff ? 2 : 1
    } else if (isRaw) {
      // The escaped quote does not end a raw string, and keeps its backslash.
      put(code)
      position += 1
      if (text.startsWith(quote, position)) {
        put(quote.charCodeAt(0))
        position += 1
      }
    } else {
      const read = escape(text, position)
      if (read === undefined) return { at, message: "Syntax error: invalid string or bytes literal" }
      if (isBytes && read.isOctet) octets.push(read.code)
      else if (read.code >= 0xd8_00 && read.code < 0xe0_00) {
        return { at, message: "Syntax error: invalid string literal: invalid unicode code point" }
      } else put(read.code)
      position += read.length
    }
  }
  const value = isBytes ? Uint8Array.from(octets) : parts.join("")
  return { end: position + quote.length, value }
}

const single: ReadonlyMap<string, number> = new Map(
  Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, "\\": 92, "'": 39, '"': 34, "`": 96, "?": 63 })
)

const coded = /\\(?:[Xx]([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|([0-3][0-7]{2}))/y

const escape = (
  text: string,
  at: number
): { readonly code: number; readonly isOctet: boolean; readonly length: number } | undefined => {
  const known = single.get(text.charAt(at + 1))
  if (known !== undefined) return { code: known, isOctet: false, length: 2 }
  coded.lastIndex = at
  const found = coded.exec(text)
  if (found === null) return undefined
  const [whole, hex, short, long, octal] = found
  const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8)
  if (code > 0x10_ff_ff) return undefined
  return { code, isOctet: hex !== undefined || octal !== undefined, length: whole.length }
}
