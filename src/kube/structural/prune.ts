/**
 * Drops the fields that a schema does not know, as the server does before it stores an object. Unknown fields that a schema preserves stay,
 * but known fields inside of them are pruned again. Pure: the result shares all parts that lost nothing, and is the argument itself if
 * nothing was dropped. Source: apiextensions-apiserver, pruning.
 */
import { additionalOf, isMembers, propertyOf, put } from "./StructuralSchema.ts"
import type { Members, StructuralSchema } from "./StructuralSchema.ts"

export interface Pruned<A> {
  readonly value: A
  /** Paths of what was dropped, `spec.list[0].typo`, in the order in which the walk meets them. */
  readonly dropped: ReadonlyArray<string>
}

/** Prunes an object of the API, whose apiVersion, kind and metadata are known in any case. */
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
  /** Members that are known in any case, and kept as they are. */
  readonly implied: ReadonlySet<string>
}

const pruneMembers = (schema: StructuralSchema | undefined, value: Members, place: Place): Members => {
  const preserves = schema?.["x-kubernetes-preserve-unknown-fields"] === true
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
    } else if (preserves) put(out, name, before)
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
