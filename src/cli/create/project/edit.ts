/**
 * Edits of TypeScript source that keep everything else as it is, byte for byte: an element more in an array, a property more in an object, an import more,
 * a token replaced. The layout of the list is continued: one element a line where it has that, else one line while it fits. Pure.
 */
import type { Range, Source } from "./source.ts"
import * as Read from "./source.ts"

/** Replaces the characters from `start` to `end`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

const width = 120

/** The edits must not overlap. */
export const apply = (text: string, edits: ReadonlyArray<Edit>): string =>
  [...edits]
    .sort((a, b) => b.start - a.start || b.end - a.end)
    .reduce((all, { end, start, text: own }) => all.slice(0, start) + own + all.slice(end), text)

export const replace = (source: Source, { from, to }: Range, text: string): Edit => ({
  start: source.tokens[from]?.start ?? 0,
  end: source.tokens[to - 1]?.end ?? 0,
  text
})

export const textOf = (source: Source, range: Range): string => {
  const { end, start } = replace(source, range, "")
  return source.text.slice(start, end)
}

/** Adds an element or property as the last in the brackets that begin at `open`. `item` is on one line. */
export const append = (source: Source, open: number, item: string): Edit => {
  const { text, tokens } = source
  const close = source.partners.get(open) ?? open
  const [start, end] = [tokens[open]?.end ?? 0, tokens[close]?.start ?? 0]
  const all = Read.elements(source, open)
  const first = tokens[open + 1]
  const newline = newlineOf(text)
  if (all.length === 0 || first === undefined) {
    // A comment may be there.
    return {
      start: end,
      end,
      text: text.slice(start, end).includes("\n") ? `  ${item}${newline}${indentAt(text, end)}` : item
    }
  }
  const last = tokens[close - 1]
  const at = last?.end ?? end
  const comma = last?.text === "," ? "" : ","
  if (text.slice(start, first.start).includes("\n")) {
    return {
      start: at,
      end: at,
      text: `${comma}${newline}${indentAt(text, first.start)}${item}${last?.text === "," ? "," : ""}`
    }
  }
  const isOneLine = !text.slice(start, end).includes("\n")
  const lineEnd = text.indexOf("\n", end)
  const rest = (lineEnd === -1 ? text.length : lineEnd) - text.lastIndexOf("\n", start) - 1
  const hasComments = source.comments.some((one) => one.start >= start && one.end <= end)
  if ((isOneLine && rest + item.length + 2 <= width) || hasComments)
    return { start: at, end: at, text: `${comma} ${item}` }
  const indent = indentAt(text, start)
  const lines = [...all.map((range) => textOf(source, range)), item].map((one) => `${indent}  ${one}`)
  return { start, end, text: `${newline}${lines.join(`,${newline}`)}${newline}${indent}` }
}

/** The blanks at the beginning of a line. */
const indentAt = (text: string, at: number): string => {
  const start = text.lastIndexOf("\n", at - 1) + 1
  let end = start
  while (text.charAt(end) === " " || text.charAt(end) === "\t") end++
  return text.slice(start, end)
}

const newlineOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n")

/** An import after the last one, with its kind of quotes and its semicolon; undefined where the file has it already. */
export const importing = (source: Source, name: string, specifier: string): Edit | undefined => {
  const all = Read.imports(source)
  if (all.some((one) => one.specifier === specifier && one.names.includes(name))) return undefined
  const last = all.at(-1)
  const quote =
    last === undefined
      ? '"'
      : (source.tokens
          .slice(last.from, last.to)
          .find(({ kind }) => kind === "string")
          ?.text.charAt(0) ?? '"')
  const semicolon = last !== undefined && source.tokens[last.to - 1]?.text === ";" ? ";" : ""
  const line = `import { ${name} } from ${quote}${specifier}${quote}${semicolon}`
  const newline = newlineOf(source.text)
  if (last === undefined) {
    const start = source.tokens[0]?.start ?? source.text.length
    return { start, end: start, text: `${line}${newline}${newline}` }
  }
  const end = source.tokens[last.to - 1]?.end ?? 0
  return { start: end, end, text: `${newline}${line}` }
}

/** Without a property and its comma. */
export const removing = (source: Source, { from, to }: Range): Edit => {
  const isLast = Read.textAt(source, to) !== ","
  if (Read.textAt(source, from - 1) === ",") return replace(source, { from: from - 1, to }, "")
  return replace(source, { from, to: isLast ? to : to + 1 }, "")
}

/** Without a whole line of the file, such as an import. */
export const removingLine = (source: Source, range: Range): Edit => {
  const { end, start } = replace(source, range, "")
  const next = source.text.indexOf("\n", end)
  return { start, end: next === -1 ? source.text.length : next + 1, text: "" }
}
