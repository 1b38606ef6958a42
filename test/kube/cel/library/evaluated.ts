/** What an expression without variables evaluates to, as a text: `3`, `"a"`, `1.5d`, `["a"]`, `failed: …`, `refused: …`. */
import * as Result from "effect/Result"
import * as Cel from "../../../../src/kube/cel/Cel.ts"
import { Duration, List, Mapping, Optional, Timestamp, TypeValue, Uint } from "../../../../src/kube/cel/Value.ts"

const shown = (value: unknown): string => {
  if (value instanceof List)
    return `[${Array.from({ length: value.size }, (_, index) => shown(value.at(index))).join(", ")}]`
  if (value instanceof Mapping) {
    return `{${value.keys
      .map((key) => `${shown(key)}: ${shown(value.get(key))}`)
      .sort()
      .join(", ")}}`
  }
  if (value instanceof Optional) return value.content === undefined ? "none" : `some ${shown(value.content)}`
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof TypeValue) return `type ${value.name}`
  if (value instanceof Duration || value instanceof Timestamp) return `${value.nanoseconds}ns`
  if (value instanceof Uint8Array) return `bytes ${Array.from(value).join(" ")}`
  if (typeof value === "number") return `${value}d`
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

export const evaluated = (
  text: string,
  variables: Readonly<Record<string, Cel.Declaration>> = {},
  bindings: Readonly<Record<string, unknown>> = {}
): string => {
  const program = Cel.compile(text, variables)
  if (Result.isFailure(program)) {
    return program.failure.split("\n", 1)[0]?.replace(/^compilation failed: ERROR: <input>:\d+:\d+/, "refused") ?? ""
  }
  const result = Cel.evaluate(program.success, bindings, { remaining: Cel.requestBudget })
  return Result.isSuccess(result) ? shown(result.success) : `failed: ${result.failure.message}`
}

/** Rows of an expression and what it evaluates to: those that evaluate to something else, with what they should. */
export const wrong = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  rows.flatMap(([text, wanted]) => {
    const value = evaluated(text)
    return value === wanted ? [] : [`${text} is ${value}, not ${wanted}`]
  })
