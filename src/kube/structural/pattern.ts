/**
 * Regular expressions as the API server reads them, run by this platform's. The two languages agree on what schemas use; where they do not
 * (flags at the start, anchors of the whole text) the expression is translated. What only the server can read allows everything: a
 * value is never refused for want of understanding.
 */

const known = new Map<string, RegExp | undefined>()

/** Kept expressions; schemas are few, but a test may make thousands. */
const limit = 4096

/** The expression, compiled once; undefined when it cannot be read here. */
export const compile = (pattern: string): RegExp | undefined => {
  if (known.has(pattern)) return known.get(pattern)
  const compiled = attempt(pattern)
  if (known.size >= limit) known.clear()
  known.set(pattern, compiled)
  return compiled
}

export const matches = (pattern: string, text: string): boolean => compile(pattern)?.test(text) ?? true

const attempt = (pattern: string): RegExp | undefined => {
  const flags = /^\(\?([ims]+)\)/.exec(pattern)
  const source = (flags === null ? pattern : pattern.slice(flags[0].length))
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
  return regExp(source, `${flags?.[1] ?? ""}u`) ?? regExp(source, flags?.[1] ?? "")
}

const regExp = (source: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(source, [...new Set(flags)].join(""))
  } catch {
    return undefined // no expression of this platform's
  }
}
