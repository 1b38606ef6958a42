/**
 * Text as a terminal may be given it. What users of a cluster write reaches logs, tables and error messages, and a terminal would take part of it for
 * orders: to clear the screen, to name the window, to show a line in another order than it is in. So these characters are shown by their numbers, as JSON
 * has them: inside a text of JSON nothing changes by it. Pure. Source: ECMA-48 (C0 and C1), Unicode UAX 9 (bidirectional controls).
 */

/** Controls but for tab and line feed, separators of lines, and what turns the direction of text. */
const orders = /[^\P{Cc}\t\n]|[\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Nothing is lost, and a text without any of them is itself. */
export const printable = (text: string): string =>
  text.replace(orders, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The text on one line, printable: for a message about what a user typed or a server sent. */
export const oneLine = (text: string): string =>
  printable(
    text
      .split(/[\r\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join(" ")
  )
