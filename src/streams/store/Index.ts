/**
 * The indexes of a store: the keys of the objects by the values that index functions return. Each change updates the entries of one key, without a scan. The
 * values of each key are stored, so that a removal is exact even if an index function is not pure. Keys are stored instead of objects, so an update with the
 * same values changes nothing. A cluster has a hundred thousand pods and some indexes of them, so what one key costs is most of what an index costs: the keys
 * of a value are in a bucket, and each key has one list of its buckets.
 */
import * as Key from "../../kube/Key.ts"

/** Keys by value, without empty sets. */
export interface Buckets {
  readonly get: (value: string) => ReadonlySet<Key.Key> | undefined
  readonly put: (value: string, key: Key.Key) => void
  readonly take: (value: string, key: Key.Key) => void
}

export const makeBuckets = (): Buckets => {
  const buckets: Values = new Map()
  return {
    get: (value) => buckets.get(value)?.keys,
    put: (value, key) => bucketOf(buckets, value).keys.add(key),
    take: (value, key) => {
      const bucket = buckets.get(value)
      if (bucket !== undefined) leave(bucket, key)
    }
  }
}

/** The keys with one value of one index. It has at least one key. */
interface Bucket {
  readonly home: Values
  readonly value: string
  readonly keys: Set<Key.Key>
}

type Values = Map<string, Bucket>

const bucketOf = (home: Values, value: string): Bucket => {
  const found = home.get(value)
  if (found !== undefined) return found
  const bucket: Bucket = { home, value, keys: new Set() }
  home.set(value, bucket)
  return bucket
}

const leave = ({ home, keys, value }: Bucket, key: Key.Key): void => {
  if (keys.delete(key) && keys.size === 0) home.delete(value)
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

interface Index<in A> {
  readonly of: (object: A) => ReadonlyArray<string>
  readonly values: Values
}

const none: ReadonlyArray<never> = []

/** With an index by namespace under the given name. */
export const makeGroup = <A>(namespaceIndex: string): Group<A> => {
  const byNamespace: Values = new Map()
  const indexes = new Map<string, Index<A>>()
  /** In the order of the indexes; the namespace is not among them, because it is a part of the key. */
  const bucketsOf = new Map<Key.Key, ReadonlyArray<Bucket>>()

  const bucketsFor = (object: A, previous: ReadonlyArray<Bucket>): Array<Bucket> => {
    const found: Array<Bucket> = []
    for (const { of, values } of indexes.values())
      for (const value of valuesFor(of, object)) {
        const present = previous[found.length]
        // A comparison is cheaper than a lookup, which hashes a string that the index function has just made.
        found.push(present?.home === values && present.value === value ? present : bucketOf(values, value))
      }
    return found
  }

  const set = (key: Key.Key, object: A): void => {
    const previous = bucketsOf.get(key) ?? none
    const next = bucketsFor(object, previous)
    if (isSame(previous, next)) return
    for (const bucket of next) bucket.keys.add(key)
    for (const bucket of previous) if (!next.includes(bucket)) leave(bucket, key)
    // An array that has grown has room for more.
    if (next.length > 0) bucketsOf.set(key, next.slice())
    else bucketsOf.delete(key)
  }

  const namespaceOf = (key: Key.Key): string => Key.parse(key).namespace ?? ""

  const keys = (name: string, value: string): ReadonlySet<Key.Key> | undefined =>
    (name === namespaceIndex ? byNamespace : indexes.get(name)?.values)?.get(value)?.keys

  const has = (name: string): boolean => name === namespaceIndex || indexes.has(name)

  return {
    add: (name, of, present) => {
      if (has(name)) return
      indexes.set(name, { of, values: new Map() })
      for (const [key, object] of present) set(key, object)
    },
    has,
    set: (key, object) => {
      bucketOf(byNamespace, namespaceOf(key)).keys.add(key)
      set(key, object)
    },
    delete: (key) => {
      const bucket = byNamespace.get(namespaceOf(key))
      if (bucket !== undefined) leave(bucket, key)
      for (const one of bucketsOf.get(key) ?? none) leave(one, key)
      bucketsOf.delete(key)
    },
    keys: (name, value) => keys(name, value) ?? none,
    count: (name, value) => keys(name, value)?.size ?? 0
  }
}

/** An index function must not corrupt the store: if it throws, the object has no values. */
const valuesFor = <A>(of: (object: A) => ReadonlyArray<string>, object: A): ReadonlyArray<string> => {
  try {
    return of(object)
  } catch {
    return none
  }
}

const isSame = (a: ReadonlyArray<Bucket>, b: ReadonlyArray<Bucket>): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i])
