/**
 * Redacts what looks like a credential in the program's output. This is a second defence: credentials are `Redacted` where they are stored, and no
 * error carries headers or bodies. Any writer of objects controls these texts, so each is cut before it is searched, and the search takes linear
 * time. Pure.
 */

/** The most characters of a text; the rest is cut. */
const longest = 16 * 1024

/** Marks the end of a text that was cut. */
const ellipsis = "…"

/**
 * Values of authorization headers, private keys in PEM, and passwords in URLs, also where the end is cut off. No match reaches beyond the string
 * that it begins in, also if that is a JSON string.
 */
const patterns: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 <redacted>"],
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\-]|\\[^"])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
    "<redacted private key>"
  ],
  [/:\/\/[^\s/:@"\\]*:[^\s/@"\\…]+(?:@|…$)/g, "://<redacted>@"]
]

/** A cheap test that is true for every text that contains a pattern or a token. */
const suspicious = /bearer|basic|eyJ|-----BEGIN|:\/\//i

export const redact = (text: string): string =>
  suspicious.test(text)
    ? patterns.reduce((out, [pattern, by]) => out.replace(pattern, by), text.replace(/[\w.-]{14,}/g, withoutToken))
    : text

/**
 * Removes a JSON web token from a word: parts separated by dots, the first of which begins like base64 of JSON. The word is split instead of
 * matched, because a regular expression would rescan the word from each possible beginning.
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

/** Where a message begins to quote an object: in Go's syntax, as the difference of two, or as JSON. Source: apimachinery field.Error. */
const quoted = /[.\]]\w+\{|value: \[?\{/

/**
 * Removes the objects that a message quotes, to the end of the last one: the API server quotes a whole pod template, with the values of environment
 * variables, when it refuses a change of it.
 */
const withoutObjects = (text: string): string => {
  const found = quoted.exec(text)
  if (found === null) return text
  const from = found.index + found[0].length
  const last = text.lastIndexOf("}")
  const end = text.endsWith(ellipsis) || last < from ? text.length : last
  return `${text.slice(0, from)}${ellipsis}${text.slice(end)}`
}

/** Cuts a long text and then redacts it, so that the cost is bounded. */
export const clean = (text: string): string =>
  redact(withoutObjects(text.length <= longest ? text : `${text.slice(0, longest)}${ellipsis}`))
