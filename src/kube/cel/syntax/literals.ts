/**
 * What the API server checks of values that are written out in an expression: texts of durations, timestamps and regular expressions are
 * valid, and the elements of a list or a map have one type. Source: cel-go cel/validator.go.
 */
import { compile } from "../../structural/pattern.ts"
import type { Expr, Fault } from "./Expr.ts"
import { parseDateTime, parseDuration } from "../library/time.ts"
import * as Type from "../Type.ts"

/** Lists that are arguments of these functions may mix types. */
const exempt: ReadonlySet<string> = new Set(["format"])

export const literalFaults = (root: Expr, types: ReadonlyMap<number, Type.Type>): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const seen = new Set<Expr>()
  const sameType = (elements: ReadonlyArray<readonly [Expr, isOptional: boolean]>): void => {
    let first: Type.Type | undefined
    for (const [element, isOptional] of elements) {
      const known = types.get(element.id) ?? Type.dyn
      const type = isOptional ? (Type.unwrapped(known) ?? Type.dyn) : known
      first ??= type
      if (Type.equal(first, type)) continue
      faults.push({ at: element.at, message: `expected type '${Type.format(first)}' but found '${Type.format(type)}'` })
      return
    }
  }
  const visit = (expr: Expr, isExempt: boolean): void => {
    // Macros may use a part twice.
    if (seen.has(expr)) return
    seen.add(expr)
    if (expr.kind === "call") faults.push(...textFaults(expr))
    if (expr.kind === "list" && !isExempt) {
      sameType(expr.elements.map((element, index) => [element, expr.optionals.has(index)] as const))
    }
    if (expr.kind === "map" && !isExempt) {
      sameType(expr.entries.map(({ key }) => [key, false] as const))
      sameType(expr.entries.map(({ isOptional, value }) => [value, isOptional] as const))
    }
    for (const part of partsOf(expr)) visit(part, isExempt || (expr.kind === "call" && exempt.has(expr.name)))
  }
  visit(root, false)
  return faults
}

/** The expressions directly inside. */
export const partsOf = (expr: Expr): ReadonlyArray<Expr> => {
  switch (expr.kind) {
    case "select":
      return [expr.operand]
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case "list":
      return expr.elements
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case "struct":
      return expr.fields.map(([, value]) => value)
    case "comprehension":
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
    default:
      return []
  }
}

/** Whether a text that is the argument of the function is one that it reads. */
const readers: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["duration", (text) => parseDuration(text) !== undefined],
  ["timestamp", (text) => parseDateTime(text) !== undefined],
  ["matches", (text) => compile(text).problem === undefined]
])

const textFaults = ({ args, name, target }: Expr & { readonly kind: "call" }): ReadonlyArray<Fault> => {
  const reads = readers.get(name)
  const argument = args[target === undefined && name === "matches" ? 1 : 0]
  if (reads === undefined || argument?.kind !== "literal" || typeof argument.value !== "string") return []
  return reads(argument.value) ? [] : [{ at: argument.at, message: `invalid ${name} argument` }]
}
