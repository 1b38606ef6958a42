/**
 * Regular expressions as the API server reads and runs them: in the dialect of RE2, in time that is linear in the text. JavaScript's engine
 * backtracks, so that `^(a+)+$` and forty characters would block the process for days.
 */
import { RE2JS } from "@bufbuild/re2"

interface Compiled {
  readonly test: (text: string) => boolean
  /** The message of Go's parser; absent for a valid expression. */
  readonly problem?: string
  /** The instructions of the automaton, in which a search for places runs; absent for a malformed expression. */
  readonly program?: ReturnType<ReturnType<typeof RE2JS.compile>["re2"]>["prog"]
}

const known = new Map<string, Compiled>()

/** How many expressions are kept; schemas are few, but a test may make thousands. */
const limit = 4096

/** Compiled once. A malformed expression matches everything: the schema that has it is refused. */
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
    return { test: (text) => expression.test(text), program: expression.re2().prog }
  } catch (error) {
    return { test: () => true, problem: error instanceof Error ? error.message : String(error) }
  }
}
