/**
 * One named index of a store: the keys for each value. Each change updates the entry of one key, without a scan. It stores the values of each
 * key, so that a removal is exact even if the index function is not pure. It has keys instead of objects, so an update with the same
 * values changes nothing.
 */
import * as Key from "../../kube/Key.ts"

export interface Index<in A> {
  /** Sets the values of the key to those of this object. */
  readonly set: (key: Key.Key, object: A) => void
  readonly delete: (key: Key.Key) => void
  readonly keys: (value: string) => ReadonlySet<Key.Key> | undefined
}

/** Keys by value, without empty sets. */
export interface Buckets {
  readonly get: (value: string) => ReadonlySet<Key.Key> | undefined
  readonly put: (value: string, key: Key.Key) => void
  readonly take: (value: string, key: Key.Key) => void
}

export const makeBuckets = (): Buckets => {
  const keysOf = new Map<string, Set<Key.Key>>()
  return {
    get: (value) => keysOf.get(value),
    put: (value, key) => {
      const keys = keysOf.get(value)
      if (keys === undefined) keysOf.set(value, new Set([key]))
      else keys.add(key)
    },
    take: (value, key) => {
      const keys = keysOf.get(value)
      if (keys?.delete(key) === true && keys.size === 0) keysOf.delete(value)
    }
  }
}

/** The index by namespace, which is a part of the key: it stores no values, and an update changes nothing. */
export const byNamespace = (): Index<unknown> => {
  const buckets = makeBuckets()
  const namespaceOf = (key: Key.Key): string => Key.parse(key).namespace ?? ""
  return {
    set: (key) => buckets.put(namespaceOf(key), key),
    delete: (key) => buckets.take(namespaceOf(key), key),
    keys: buckets.get
  }
}

export const make = <A>(of: (object: A) => ReadonlyArray<string>): Index<A> => {
  const buckets = makeBuckets()
  /** Never holds an empty array; one string stands for an array of one. */
  const valuesOf = new Map<Key.Key, string | ReadonlyArray<string>>()

  const remove = (key: Key.Key): void => {
    const values = valuesOf.get(key)
    if (values === undefined) return
    valuesOf.delete(key)
    if (typeof values === "string") buckets.take(values, key)
    else for (const value of values) buckets.take(value, key)
  }

  return {
    set: (key, object) => {
      const values = valuesFor(of, object)
      if (isSame(valuesOf.get(key), values)) return
      remove(key)
      const first = values[0]
      if (first === undefined) return
      valuesOf.set(key, values.length === 1 ? first : Array.from(values))
      for (const value of values) buckets.put(value, key)
    },
    delete: remove,
    keys: buckets.get
  }
}

/** An index function must not corrupt the store: if it throws, the object has no values. */
const valuesFor = <A>(of: (object: A) => ReadonlyArray<string>, object: A): ReadonlyArray<string> => {
  try {
    return of(object)
  } catch {
    return []
  }
}

const isSame = (before: string | ReadonlyArray<string> | undefined, after: ReadonlyArray<string>): boolean => {
  if (before === undefined) return after.length === 0
  if (typeof before === "string") return after.length === 1 && after[0] === before
  return before.length === after.length && before.every((value, i) => value === after[i])
}

/** All indexes of a store, by name. */
export interface Group<A> {
  /** Adds an index over the present objects; a name that exists keeps its first function. */
  readonly add: (name: string, of: (object: A) => ReadonlyArray<string>, present: Iterable<[Key.Key, A]>) => void
  readonly has: (name: string) => boolean
  readonly set: (key: Key.Key, object: A) => void
  readonly delete: (key: Key.Key) => void
  readonly keys: (name: string, value: string) => Iterable<Key.Key>
  readonly count: (name: string, value: string) => number
}

/** With an index by namespace under the given name. */
export const makeGroup = <A>(namespaceIndex: string): Group<A> => {
  const indexes = new Map<string, Index<A>>([[namespaceIndex, byNamespace()]])
  return {
    add: (name, of, present) => {
      if (indexes.has(name)) return
      const index = make(of)
      indexes.set(name, index)
      for (const [key, object] of present) index.set(key, object)
    },
    has: (name) => indexes.has(name),
    set: (key, object) => {
      for (const index of indexes.values()) index.set(key, object)
    },
    delete: (key) => {
      for (const index of indexes.values()) index.delete(key)
    },
    keys: (name, value) => indexes.get(name)?.keys(value) ?? [],
    count: (name, value) => indexes.get(name)?.keys(value)?.size ?? 0
  }
}
