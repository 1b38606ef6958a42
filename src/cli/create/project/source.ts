/**
 * TypeScript source as tokens with matched brackets, as far as `create` has to understand it: top-level declarations, the properties of an object
 * literal, the elements of an array literal, and imports. It never guesses: text that it cannot split into tokens is refused, and then nothing is
 * written. Linear in the text. Pure.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

export interface Token {
  readonly kind: "word" | "string" | "punctuation" | "other"
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Source {
  /** The path in the project, with slashes. */
  readonly path: string
  readonly text: string
  /** Without comments. */
  readonly tokens: ReadonlyArray<Token>
  /** The index of the other bracket, by the index of a bracket. */
  readonly partners: ReadonlyMap<number, number>
  readonly comments: ReadonlyArray<{ readonly start: number; readonly end: number }>
}

/** The file cannot be split into tokens; the message names file, line and reason. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly message: string }> {}

/** Some of the tokens: the first, and the one after the last. */
export interface Range {
  readonly from: number
  readonly to: number
}

export interface Property extends Range {
  /** Undefined for a spread or a computed key. */
  readonly key: string | undefined
  /** The first token of the value; equal to `from` for a shorthand property. */
  readonly value: number
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "${": "}" }

/** After one of these words a slash begins a regular expression. */
const operators = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "do",
  "else",
  "void",
  "delete",
  "new",
  "throw",
  "await",
  "yield"
])

export const read = (path: string, text: string): Result.Result<Source, Unreadable> => {
  const tokens: Array<Token> = []
  const comments: Array<{ readonly start: number; readonly end: number }> = []
  const partners = new Map<number, number>()
  const open: Array<number> = []
  const fail = (at: number, why: string) =>
    Result.fail(new Unreadable({ message: `${path}:${lineAt(text, at)}: ${why}; create does not edit this file` }))
  let at = 0
  const push = (kind: Token["kind"], end: number): void => {
    tokens.push({ kind, start: at, end, text: text.slice(at, end) })
    at = end
  }
  while (at < text.length) {
    const char = text.charAt(at)
    if (isBlank(char)) at++
    else if (text.startsWith("//", at)) {
      const end = endOf(text, "\n", at)
      comments.push({ start: at, end })
      at = end
    } else if (text.startsWith("/*", at)) {
      const found = text.indexOf("*/", at + 2)
      if (found === -1) return fail(at, "a comment does not end")
      comments.push({ start: at, end: found + 2 })
      at = found + 2
    } else if (isWord(char)) {
      let end = at + 1
      while (end < text.length && isWord(text.charAt(end))) end++
      push(char >= "0" && char <= "9" ? "other" : "word", end)
    } else if (char === '"' || char === "'") {
      const end = quoted(text, at, char)
      if (end === undefined) return fail(at, "a string does not end")
      push("string", end)
    } else if (char === "`" || (char === "}" && tokens[open.at(-1) ?? -1]?.text === "${")) {
      if (char === "}") close(partners, open, tokens.length)
      const end = templatePart(text, at)
      if (end === undefined) return fail(at, "a template does not end")
      const opens = text.startsWith("${", end)
      push("other", end)
      if (opens) {
        open.push(tokens.length)
        push("punctuation", end + 2)
      }
    } else if (char === "/" && beginsPattern(tokens.at(-1))) {
      const end = patternEnd(text, at)
      if (end === undefined) return fail(at, "a regular expression does not end")
      push("other", end)
    } else {
      if (char in closers) open.push(tokens.length)
      else if (char === ")" || char === "]" || char === "}") {
        const opener = tokens[open.at(-1) ?? -1]
        if (opener === undefined || closers[opener.text] !== char)
          return fail(at, `there is no bracket for this ${char}`)
        close(partners, open, tokens.length)
      }
      push("punctuation", at + 1)
    }
  }
  const unclosed = tokens[open.at(-1) ?? -1]
  if (unclosed !== undefined) return fail(unclosed.start, `the bracket ${unclosed.text} is not closed`)
  return Result.succeed({ path, text, tokens, partners, comments })
}

const close = (partners: Map<number, number>, open: Array<number>, index: number): void => {
  const opener = open.pop()
  if (opener === undefined) return
  partners.set(opener, index)
  partners.set(index, opener)
}

const isBlank = (char: string): boolean => char.trim() === ""

const isWord = (char: string): boolean => /[\w$\u0080-\uffff]/.test(char) && !isBlank(char)

const endOf = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from)
  return found === -1 ? text.length : found
}

/** Undefined where the line ends first. */
const quoted = (text: string, start: number, quote: string): number | undefined => {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === "\\") at++
    else if (char === quote) return at + 1
    else if (char === "\n") return undefined
  }
  return undefined
}

/** From a backtick, or the bracket that ends a substitution, to the end of the template or before its next substitution. */
const templatePart = (text: string, start: number): number | undefined => {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === "\\") at++
    else if (char === "`") return at + 1
    else if (text.startsWith("${", at)) return at
  }
  return undefined
}

const beginsPattern = (before: Token | undefined): boolean => {
  if (before === undefined) return true
  if (before.kind === "word") return operators.has(before.text)
  return before.kind === "punctuation" && ![")", "]", "}"].includes(before.text)
}

const patternEnd = (text: string, start: number): number | undefined => {
  let inClass = false
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === "\\") at++
    else if (char === "\n") return undefined
    else if (char === "[") inClass = true
    else if (char === "]") inClass = false
    else if (char === "/" && !inClass) {
      let end = at + 1
      while (end < text.length && isWord(text.charAt(end))) end++
      return end
    }
  }
  return undefined
}

export const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length

/** The line of a token, from 1. */
export const lineOf = ({ text, tokens }: Source, index: number): number => lineAt(text, tokens[index]?.start ?? 0)

/** The content of a string without escapes; undefined for everything else. */
export const literal = ({ tokens }: Source, index: number): string | undefined => {
  const token = tokens[index]
  return token?.kind !== "string" || token.text.includes("\\") ? undefined : token.text.slice(1, -1)
}

export const wordAt = ({ tokens }: Source, index: number): string | undefined =>
  tokens[index]?.kind === "word" ? tokens[index].text : undefined

export const textAt = ({ tokens }: Source, index: number): string | undefined => tokens[index]?.text

/** Whether the tokens from an index on are these. */
export const matches = (source: Source, from: number, texts: ReadonlyArray<string | undefined>): boolean =>
  texts.every((text, index) => text === undefined || textAt(source, from + index) === text)

/** The indices of the tokens outside of all brackets of a range, openers included. */
const outer = (source: Source, from: number, to: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let index = from; index < to; index++) {
    found.push(index)
    const partner = source.partners.get(index)
    if (partner !== undefined && partner > index) index = partner
  }
  return found
}

/** The parts between commas of what is in the bracket at `open`. */
export const elements = (source: Source, open: number): ReadonlyArray<Range> => {
  const end = source.partners.get(open) ?? open
  const found: Array<Range> = []
  let from = open + 1
  for (const index of outer(source, open + 1, end)) {
    if (textAt(source, index) !== ",") continue
    found.push({ from, to: index })
    from = index + 1
  }
  return from < end ? [...found, { from, to: end }] : found
}

export const properties = (source: Source, open: number): ReadonlyArray<Property> =>
  elements(source, open).map(({ from, to }) => {
    const key = wordAt(source, from) ?? literal(source, from)
    if (key !== undefined && textAt(source, from + 1) === ":") return { key, from, to, value: from + 2 }
    return { key: to === from + 1 ? key : undefined, from, to, value: from }
  })

export const property = (source: Source, open: number, key: string): Property | undefined =>
  properties(source, open).find((one) => one.key === key)

/** `export const name = Callee.method(…`, or `callee(…)` as a statement. */
export interface Call {
  /** Undefined for a statement. */
  readonly name: string | undefined
  /** `Resource.make`. */
  readonly callee: string
  /** The bracket of its arguments. */
  readonly open: number
}

/** The calls at the top level. */
export const calls = (source: Source): ReadonlyArray<Call> =>
  outer(source, 0, source.tokens.length).flatMap((index) => {
    if (textAt(source, index) !== "(") return []
    const hasDot = textAt(source, index - 2) === "."
    const first = hasDot ? index - 3 : index - 1
    const last = wordAt(source, index - 1)
    if (last === undefined || wordAt(source, first) === undefined) return []
    const callee = hasDot ? `${textAt(source, first)}.${last}` : last
    if (matches(source, first - 4, ["export", "const", undefined, "="])) {
      return [{ name: wordAt(source, first - 2), callee, open: index }]
    }
    const before = textAt(source, first - 1)
    return before === "." || before === "=" || before === "function" ? [] : [{ name: undefined, callee, open: index }]
  })

export interface Import extends Range {
  readonly specifier: string
  /** The names that the file uses for what it imports. */
  readonly names: ReadonlyArray<string>
}

/** The imports at the top level, in order. */
export const imports = (source: Source): ReadonlyArray<Import> => {
  const found: Array<Import> = []
  const indices = outer(source, 0, source.tokens.length)
  for (const from of indices) {
    if (textAt(source, from) !== "import" || ["(", "."].includes(textAt(source, from + 1) ?? "")) continue
    const end = indices.find((index) => index > from && source.tokens[index]?.kind === "string")
    if (end === undefined) continue
    const to = textAt(source, end + 1) === ";" ? end + 2 : end + 1
    const names = source.tokens
      .slice(from + 1, end)
      .flatMap(({ kind, text }, offset) => (kind === "word" && isBound(source, from + 1 + offset) ? [text] : []))
    found.push({ from, to, specifier: literal(source, end) ?? "", names })
  }
  return found
}

/** In `a as b` only b is bound. */
const isBound = (source: Source, index: number): boolean =>
  !["as", "from", "type"].includes(textAt(source, index) ?? "") && textAt(source, index + 1) !== "as"
