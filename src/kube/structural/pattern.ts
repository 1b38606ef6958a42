/**
 * Regular expressions as the API server reads and runs them: in the dialect of RE2, in time that is linear in the text. The platform's own
 * engine goes back and tries again, so that `^(a+)+$` and forty characters would hold the process for days.
 */
import { RE2JS } from "@bufbuild/re2"

interface Compiled {
  readonly test: (text: string) => boolean
  /** In the words of Go; absent where it is an expression. */
  readonly problem?: string
}

const known = new Map<string, Compiled>()

/** Kept expressions; schemas are few, but a test may make thousands. */
const limit = 4096

/** Compiled once. What is no expression is refused with the schema that has it, and matches everything. */
export const compile = (pattern: string): Compiled => {
  const found = known.get(pattern)
  if (found !== undefined) return found
  const compiled = attempt(pattern)
  if (known.size >= limit) known.clear()
  known.set(pattern, compiled)
  return compiled
}

const attempt = (pattern: string): Compiled => {
  try {
    const expression = RE2JS.compile(pattern)
    return { test: (text) => expression.test(text) }
  } catch (error) {
    return { test: () => true, problem: error instanceof Error ? error.message : String(error) }
  }
}
