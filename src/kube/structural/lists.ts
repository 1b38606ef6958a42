/**
 * Lists that are sets or maps have no element twice: `x-kubernetes-list-type`. An element of a set is identified by its value, one of a map by
 * its key members, of which an absent one equals its default. Source: apiextensions-apiserver, schema/listtype.
 */
import { additionalOf, isMembers, member, propertyOf } from "./StructuralSchema.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"
import { duplicate } from "./fieldErrors.ts"

/** One cause for each value that occurs again, at its second place. */
export const repeated = (schema: StructuralSchema, value: unknown, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  visit(schema, value, path, causes)
  return causes
}

const visit = (schema: StructuralSchema, value: unknown, path: string, causes: Array<Cause>): void => {
  if (Array.isArray(value)) {
    const key = keyOf(schema)
    if (key !== undefined) findRepeated(value, key, path, causes)
    const { items } = schema
    if (items !== undefined) for (const [index, one] of value.entries()) visit(items, one, `${path}[${index}]`, causes)
  } else if (isMembers(value)) {
    for (const name of Object.keys(value)) {
      const of = propertyOf(schema, name) ?? additionalOf(schema)
      if (of !== undefined) visit(of, value[name], path === "" ? name : `${path}.${name}`, causes)
    }
  }
}

type Key = (element: unknown) => unknown

/** What identifies the elements of a list; undefined for an atomic list. */
const keyOf = (schema: StructuralSchema): Key | undefined => {
  if (schema["x-kubernetes-list-type"] === "set") return (element) => element
  if (schema["x-kubernetes-list-type"] !== "map") return undefined
  const names = schema["x-kubernetes-list-map-keys"] ?? []
  return (element) => {
    if (!isMembers(element)) return undefined
    const pairs = names.map((name) => [name, member(element, name) ?? defaultOf(schema, name)] as const)
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
  }
}

const defaultOf = (schema: StructuralSchema, name: string): unknown =>
  schema.items === undefined ? undefined : propertyOf(schema.items, name)?.default

const findRepeated = (list: ReadonlyArray<unknown>, key: Key, path: string, causes: Array<Cause>): void => {
  const seen = new Map<string, "once" | "told">()
  for (const [index, element] of list.entries()) {
    const value = key(element)
    if (value === undefined) continue
    const text = canonical(value)
    const before = seen.get(text)
    if (before === "once") causes.push(duplicate(`${path}[${index}]`, value))
    seen.set(text, before === undefined ? "once" : "told")
  }
}

/** The same text for equal values, in whatever order their members are. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isMembers(value)) return JSON.stringify(value) ?? "null"
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(",")}}`
}
