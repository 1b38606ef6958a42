/**
 * The last line of defence against secrets in what the program prints: whatever looks like a credential is replaced. Nothing
 * depends on it: credentials are `Redacted` where they are kept, and no error carries headers or bodies. Pure.
 */

/**
 * Values of authorization headers, JSON web tokens, private keys in PEM, and passwords in addresses. None reaches beyond the text that
 * it begins in, also where that is a text inside JSON.
 */
const patterns: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 <redacted>"],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, "<redacted>"],
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\-]|\\[^"])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
    "<redacted private key>"
  ],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@"\\]{0,256}:[^\s/@"\\]{1,256}@/gi, "$1<redacted>@"]
]

/** Cheap, and true for every text that one of the patterns matches. */
const suspicious = /bearer|basic|eyJ|-----BEGIN|@/i

export const redact = (text: string): string =>
  suspicious.test(text) ? patterns.reduce((out, [pattern, by]) => out.replace(pattern, by), text) : text
