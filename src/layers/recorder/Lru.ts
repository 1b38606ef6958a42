/**
 * A bounded map that forgets what was used least recently. Plain and synchronous; a `Map` keeps insertion order, so the
 * oldest entry is the first one and a use is a re-insertion.
 */
export interface Lru<K, V> {
  /** Reading is a use. */
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  /** Least recently used first. */
  readonly entries: () => IterableIterator<[K, V]>
  readonly size: () => number
}

export const make = <K, V>(capacity: number): Lru<K, V> => {
  const map = new Map<K, V>()
  return {
    get: (key) => {
      const value = map.get(key)
      if (value === undefined) return undefined
      map.delete(key)
      map.set(key, value)
      return value
    },
    set: (key, value) => {
      map.delete(key)
      map.set(key, value)
      if (map.size <= capacity) return
      for (const oldest of map.keys()) {
        map.delete(oldest)
        break
      }
    },
    delete: (key) => void map.delete(key),
    entries: () => map.entries(),
    size: () => map.size
  }
}
