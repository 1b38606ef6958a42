/**
 * Fields, keys and elements of values, of optional values too, and the failures of those that are not there.
 * Source: cel-go interpreter/attributes.go, cel/library.go.
 */
import { Entries, Failure, List, Mapping, Optional, typeName, Uint } from "./Value.ts"
import type { Outcome, Value } from "./Value.ts"

export const noOverload = (name: string, args: ReadonlyArray<Value>): Failure =>
  new Failure(`no such overload: ${name}(${args.map(typeName).join(", ")})`)

/** The content of an optional is read as an optional too. */
export const memberOf = (operand: Value, key: Value): Outcome => {
  if (operand instanceof Optional) return optionalMember(operand, key)
  if (operand instanceof Mapping) {
    const value = operand.get(key)
    return value === undefined ? new Failure(`no such key: ${shown(key)}`) : value
  }
  if (!(operand instanceof List)) return noOverload("_[_]", [operand, key])
  const index = indexOf(key)
  if (index === undefined) return noOverload("_[_]", [operand, key])
  return index >= 0 && index < operand.size ? operand.at(index) : new Failure(`index out of bounds: ${index}`)
}

export const optionalMember = (operand: Value, key: Value): Outcome => {
  const of = operand instanceof Optional ? operand.content : operand
  if (of === undefined) return Optional.none
  const isMissing =
    (of instanceof Mapping && of.get(key) === undefined) || (of instanceof List && !isWithin(indexOf(key), of.size))
  if (isMissing) return Optional.none
  const value = memberOf(of, key)
  return value instanceof Failure ? value : new Optional(value)
}

const isWithin = (index: number | undefined, size: number): boolean =>
  index === undefined || (index >= 0 && index < size)

const indexOf = (key: Value): number | undefined => {
  if (typeof key === "bigint") return Number(key)
  if (key instanceof Uint) return Number(key.value)
  return typeof key === "number" && Number.isInteger(key) ? key : undefined
}

const shown = (key: Value): string => {
  if (key instanceof Uint) return String(key.value)
  return typeof key === "string" || typeof key === "bigint" || typeof key === "boolean" ? String(key) : typeName(key)
}

/** All values, if all are there. */
export const all = (values: ReadonlyArray<Value | undefined>): Array<Value> | undefined => {
  const found: Array<Value> = []
  for (const value of values) {
    if (value === undefined) return undefined
    found.push(value)
  }
  return found
}

export const zip = (keys: ReadonlyArray<Value>, values: ReadonlyArray<Value>): Failure | Mapping =>
  Entries.of(keys.map((key, index) => [key, values[index] ?? null] as const))

/** Functions whose value for a constant is a constant. */
export const conversions: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" ")
)
