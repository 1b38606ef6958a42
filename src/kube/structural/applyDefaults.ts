/**
 * Fills in what a schema gives a default for, and takes away nulls that are no values, as the server does with what it is sent and with what
 * it has stored. Pure: whatever changes nothing is shared, and an object that has everything comes back as it is. Doing it twice
 * is doing it once, for schemas that `check` accepts. Source: apiextensions-apiserver, defaulting.
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
    const after = isAbsent(before, of) ? fill(of, of?.default) : fill(of, before)
    if (after === before) continue
    out ??= copy(value)
    if (after === undefined) delete out[name]
    else put(out, name, after)
  }
  for (const name of Object.keys(schema.properties ?? {})) {
    const of = propertyOf(schema, name)
    if (of?.default === undefined || member(value, name) !== undefined) continue
    out ??= copy(value)
    put(out, name, fill(of, of.default))
  }
  return out ?? value
}

const fillItems = (schema: StructuralSchema | undefined, value: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  if (schema === undefined) return value
  // An element has a place even when it is nothing: null stays where there is no default for it.
  const out = value.map((one) => fill(schema, isAbsent(one, schema) ? (schema.default ?? null) : one))
  return out.every((one, index) => one === value[index]) ? value : out
}

const copy = (members: Members): Record<string, unknown> => {
  const out: Record<string, unknown> = {}
  for (const name of Object.keys(members)) put(out, name, members[name])
  return out
}
