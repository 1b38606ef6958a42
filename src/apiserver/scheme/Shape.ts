/**
 * How lists and maps of a resource merge: what strategic merge patch and server-side apply need of the type table. Without a
 * description, maps merge key by key and lists are replaced. Shapes are built on first use, once per type.
 */
import * as types from "./types.ts"

export interface Shape {
  /** Strategic merge patch: a list of objects that merges by this member. */
  readonly key?: string | undefined
  /** Server-side apply: members that identify an element; empty when the list is atomic. */
  readonly keys?: ReadonlyArray<string> | undefined
  /** Defaults of absent key members. */
  readonly keyDefaults?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Server-side apply: a list of primitives that is a set. */
  readonly set?: boolean | undefined
  /** Strategic merge patch: a list of primitives that is merged as a set. */
  readonly patchSet?: boolean | undefined
  /** Strategic merge patch: the value is replaced, not merged. */
  readonly replaced?: boolean | undefined
  /** Server-side apply: owned as a whole. */
  readonly atomic?: boolean | undefined
  /** A member that is always encoded, if only as null or empty: server-side apply records no owner of it while it is empty. */
  readonly always?: boolean | undefined
  /** Shapes of the members of the object, or of the elements of the list. */
  readonly fields?: Readonly<Record<string, Shape>> | undefined
  /** Shape of members that `fields` does not name. */
  readonly others?: Shape | undefined
}

/** The shape of ObjectMeta. */
export const metadata = (): Shape => ({ always: true, fields: ofType("meta.ObjectMeta") })

/** The shape of objects of a type; only metadata if the type table has none. */
export const ofObject = (type: types.Type | undefined): Shape => ({
  fields: type === undefined ? { metadata: metadata() } : ofType(type.id)
})

const known = new Map<string, Readonly<Record<string, Shape>>>()

const ofType = (id: string): Readonly<Record<string, Shape>> => {
  const found = known.get(id)
  if (found !== undefined) return found
  const made = Object.fromEntries([...types.get(id).fields].map(([name, one]) => [name, ofField(one)] as const))
  known.set(id, made)
  return made
}

const ofField = ({ always, atomic, fieldType, patch }: types.Field): Shape => {
  switch (fieldType._tag) {
    case "Scalar":
      return { always }
    case "Map":
      return atomic ? { always, atomic } : { always }
    case "Ref":
      return around(fieldType.type, {
        always,
        ...(atomic || types.get(fieldType.type).atomic ? { atomic: true } : {}),
        ...(patch?.replace === true ? { replaced: true } : {})
      })
    case "List": {
      const type = fieldType.element._tag === "Ref" ? fieldType.element.type : undefined
      const own: Shape = {
        always,
        key: patch?.key === "" ? undefined : patch?.key,
        patchSet: patch?.key === "",
        set: fieldType.merge === "set",
        ...(typeof fieldType.merge === "string"
          ? {}
          : { keys: fieldType.merge, keyDefaults: defaultsOf(type, fieldType.merge) })
      }
      return type === undefined ? own : around(type, own)
    }
  }
}

/** Lazy: types may be recursive, and most are never patched. */
const around = (type: string, own: Shape): Shape =>
  Object.defineProperty({ ...own }, "fields", { get: () => ofType(type), enumerable: true })

const defaultsOf = (type: string | undefined, keys: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  if (type === undefined) return {}
  const { fields } = types.get(type)
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = fields.get(key)?.default
      return value === undefined ? [] : [[key, value]]
    })
  )
}

export const field = (shape: Shape | undefined, name: string): Shape | undefined => {
  const fields = shape?.fields
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : shape?.others
}

/** Members that identify an element of a list; empty when the list is not a map. */
export const keysOf = (shape: Shape | undefined): ReadonlyArray<string> => shape?.keys ?? []
