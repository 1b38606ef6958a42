/**
 * The difference of two JSON values as a JSON patch, which turns the first into the second. Equal parts have no operations, so unknown fields of
 * the first stay unchanged if the second has them too. Pure, total on JSON. Source: RFC 6902, RFC 6901.
 */
import * as Equal from "effect/Equal"
import type { JsonOperation } from "../../kube/Patch.ts"

/** Values of `to` without JSON, such as undefined fields, count as absent. */
export const diff = (from: unknown, to: unknown): ReadonlyArray<JsonOperation> => {
  const operations: Array<JsonOperation> = []
  walk("", from, JSON.parse(JSON.stringify(to)) as unknown, operations)
  return operations
}

const walk = (path: string, from: unknown, to: unknown, out: Array<JsonOperation>): void => {
  if (isRecord(from) && isRecord(to)) return fields(path, from, to, out)
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    return from.forEach((element, index) => walk(`${path}/${index}`, element, to[index], out))
  }
  // A list of another length is replaced as a whole, because its indexes have shifted.
  if (!Equal.equals(from, to)) out.push({ op: "replace", path, value: to })
}

type Fields = Readonly<Record<string, unknown>>

const fields = (path: string, from: Fields, to: Fields, out: Array<JsonOperation>): void => {
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) out.push({ op: "remove", path: `${path}/${escaped(key)}` })
  }
  for (const [key, value] of Object.entries(to)) {
    const inner = `${path}/${escaped(key)}`
    if (Object.hasOwn(from, key)) walk(inner, from[key], value, out)
    else out.push({ op: "add", path: inner, value })
  }
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
