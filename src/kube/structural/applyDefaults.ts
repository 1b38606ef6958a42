/**
 * Fills in the defaults of a schema, and removes nulls that stand for absent fields, as the server does with requests and with stored
 * objects. Pure: unchanged parts are shared, and an object that has everything is returned itself. Idempotent for schemas that `check`
 * accepts. Source: apiextensions-apiserver, defaulting.
 */
import { additionalOf, isAbsent, isMembers, member, propertyOf, put } from "./StructuralSchema.ts"
import type { Members, StructuralSchema } from "./StructuralSchema.ts"

export const applyDefaults = <A>(schema: StructuralSchema, value: A): A => fill(schema, value) as A

const fill = (schema: StructuralSchema | undefined, value: unknown): unknown => {
  if (schema === undefined) return value
  if (Array.isArray(value)) return fillItems(schema.items, value)
  return isMembers(value) ? fillMembers(schema, value) : value
}

const fillMembers = (schema: StructuralSchema, value: Members): Members => {
  let out: Record<string, unknown> | undefined
  for (const name of Object.keys(value)) {
    const before = value[name]
    const of = propertyOf(schema, name) ?? additionalOf(schema)
    const after = isAbsent(before, of) ? fill(of, defaultOf(of)) : fill(of, before)
    if (after === before) continue
    out ??= copy(value)
    if (after === undefined) delete out[name]
    else put(out, name, after)
  }
  for (const name of Object.keys(schema.properties ?? {})) {
    const of = propertyOf(schema, name)
    const given = defaultOf(of)
    if (given === undefined || member(value, name) !== undefined) continue
    out ??= copy(value)
    put(out, name, fill(of, given))
  }
  return out ?? value
}

/** A default of null is none. Source: apiextensions-apiserver, defaulting: Default. */
const defaultOf = (schema: StructuralSchema | undefined): unknown => schema?.default ?? undefined

const fillItems = (schema: StructuralSchema | undefined, value: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  if (schema === undefined) return value
  // An element keeps its index, so a null stays where there is no default for it.
  const out = value.map((one) => fill(schema, isAbsent(one, schema) ? (schema.default ?? null) : one))
  return out.every((one, index) => one === value[index]) ? value : out
}

const copy = (members: Members): Record<string, unknown> => {
  const out: Record<string, unknown> = {}
  for (const name of Object.keys(members)) put(out, name, members[name])
  return out
}
