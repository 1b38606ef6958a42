/**
 * Text that is safe to write to a terminal. Logs, tables and error messages contain what users of a cluster wrote, and a terminal would obey
 * control characters in it: clear the screen, set the window's title, reorder a line. They are replaced by JSON's escapes, so JSON text
 * keeps its meaning. Pure. Source: ECMA-48 (C0 and C1), Unicode UAX 9 (bidirectional controls).
 */

/** Control characters except tab and line feed, line and paragraph separators, and controls of the text's direction. */
const unsafeCharacters = /[^\P{Cc}\t\n]|[\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The text with these characters escaped; a text without any is unchanged. */
export const printable = (text: string): string =>
  text.replace(unsafeCharacters, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The text on one line, printable: for a message about what a user typed or a server sent. */
export const oneLine = (text: string): string =>
  printable(
    text
      .split(/[\r\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join(" ")
  )

/**
 * The beginning of the text on one line, printable, of at most so many characters. It is a copy, because a slice would keep the whole text in memory:
 * a denial of an admission webhook may be as long as it likes.
 */
export const excerpt = (text: string, longest: number): string => {
  const line = oneLine(text.slice(0, 2 * longest))
  if (text.length <= longest && line.length <= longest) return line
  const isCut = text.length > 2 * longest || line.length > longest
  return JSON.parse(JSON.stringify(isCut ? `${line.slice(0, longest)}…` : line)) as string
}
