/**
 * The last line of defence against secrets in what the program prints: whatever looks like a credential is replaced. Nothing
 * depends on it: credentials are `Redacted` where they are kept, and no error carries headers or bodies. Texts come from whoever can
 * write an object, so a text is cut before it is searched, and the search takes steps in proportion to its length. Pure.
 */

/** Characters of one text; what is more is cut. */
const longest = 16 * 1024

/** Marks the end of a text that was cut. */
const ellipsis = "…"

/**
 * Values of authorization headers, private keys in PEM, and passwords in addresses, also one that is cut off. None reaches beyond the text
 * that it begins in, also where that is a text inside JSON.
 */
const patterns: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 <redacted>"],
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\-]|\\[^"])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
    "<redacted private key>"
  ],
  [/:\/\/[^\s/:@"\\]*:[^\s/@"\\…]+(?:@|…$)/g, "://<redacted>@"]
]

/** Cheap, and true for every text that one of the patterns matches, or that has a token. */
const suspicious = /bearer|basic|eyJ|-----BEGIN|:\/\//i

export const redact = (text: string): string =>
  suspicious.test(text)
    ? patterns.reduce((out, [pattern, by]) => out.replace(pattern, by), text.replace(/[\w.-]{14,}/g, withoutToken))
    : text

/**
 * A word without the JSON web token in it: parts between dots, the first of which begins like JSON. It is taken apart instead of searched,
 * because one pattern would read a word with many such beginnings again from each of them.
 */
const withoutToken = (word: string): string => {
  const parts = word.split(".")
  let start = 0
  for (const [index, part] of parts.entries()) {
    const at = part.search(/\beyJ/)
    const isToken = at >= 0 && part.length - at >= 8 && (parts[index + 1]?.length ?? 0) >= 5
    if (isToken) return `${word.slice(0, start + at)}<redacted>`
    start += part.length + 1
  }
  return word
}

/** A text as it may be shown: cut where it is too long, then searched, so that no text costs more than another. */
export const clean = (text: string): string =>
  redact(text.length <= longest ? text : `${text.slice(0, longest)}${ellipsis}`)
