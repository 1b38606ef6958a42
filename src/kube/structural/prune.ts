/**
 * Drops what a schema does not know, as the server does before it stores an object. What a schema preserves stays, but what is known inside
 * of it is pruned again. Pure: the value that comes out shares with the one that went in whatever lost nothing, and is the very
 * same where nothing was lost. Source: apiextensions-apiserver, pruning.
 */
import { additionalOf, isMembers, propertyOf, put } from "./StructuralSchema.ts"
import type { Members, StructuralSchema } from "./StructuralSchema.ts"

export interface Pruned<A> {
  readonly value: A
  /** Paths of what was dropped, `spec.list[0].typo`, in the order in which they were met. */
  readonly dropped: ReadonlyArray<string>
}

/** An object of the API: its apiVersion, kind and metadata are known without the schema saying so. */
export const prune = <A>(schema: StructuralSchema, object: A): Pruned<A> => {
  const dropped: Array<string> = []
  return { value: pruneResource(schema, object, "", dropped) as A, dropped }
}

const implied = new Set(["apiVersion", "kind", "metadata"])

const pruneResource = (schema: StructuralSchema, value: unknown, path: string, dropped: Array<string>): unknown =>
  isMembers(value) ? pruneMembers(schema, value, { path, dropped, implied }) : pruneAny(schema, value, path, dropped)

const pruneAny = (
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
  dropped: Array<string>
): unknown => {
  if (Array.isArray(value)) return pruneItems(schema, value, path, dropped)
  if (!isMembers(value)) return value
  if (schema?.["x-kubernetes-embedded-resource"] === true) return pruneResource(schema, value, path, dropped)
  return pruneMembers(schema, value, { path, dropped, implied: nothing })
}

const nothing: ReadonlySet<string> = new Set()

interface Place {
  readonly path: string
  readonly dropped: Array<string>
  /** Members that are known in any case, and not looked into. */
  readonly implied: ReadonlySet<string>
}

const pruneMembers = (schema: StructuralSchema | undefined, value: Members, place: Place): Members => {
  const keeps = schema?.["x-kubernetes-preserve-unknown-fields"] === true
  const out: Record<string, unknown> = {}
  let same = true
  for (const name of Object.keys(value)) {
    const before = value[name]
    const path = place.path === "" ? name : `${place.path}.${name}`
    if (place.implied.has(name)) put(out, name, before)
    else if (schema !== undefined && knows(schema, name)) {
      const after = pruneAny(propertyOf(schema, name) ?? additionalOf(schema), before, path, place.dropped)
      put(out, name, after)
      same &&= after === before
    } else if (keeps) put(out, name, before)
    else {
      place.dropped.push(path)
      same = false
    }
  }
  return same ? value : out
}

const knows = (schema: StructuralSchema, name: string): boolean =>
  propertyOf(schema, name) !== undefined ||
  additionalOf(schema) !== undefined ||
  (schema.additionalProperties === true && schema["x-kubernetes-preserve-unknown-fields"] !== true)

const pruneItems = (
  schema: StructuralSchema | undefined,
  value: ReadonlyArray<unknown>,
  path: string,
  dropped: Array<string>
): ReadonlyArray<unknown> => {
  const items = schema?.items
  if (items === undefined && schema?.["x-kubernetes-preserve-unknown-fields"] === true) return value
  const out = value.map((one, index) => pruneAny(items, one, `${path}[${index}]`, dropped))
  return out.every((one, index) => one === value[index]) ? value : out
}
