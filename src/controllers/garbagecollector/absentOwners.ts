/**
 * Owners that are known to be absent, so that many dependents of a deleted owner cost one request. An entry never
 * becomes wrong, because it contains the uid. The least recently used entry is dropped.
 */
import * as Identity from "./Identity.ts"

export interface AbsentOwners {
  readonly add: (identity: Identity.Identity) => void
  /** Counts as a use. */
  readonly has: (identity: Identity.Identity) => boolean
}

export const make = (capacity: number): AbsentOwners => {
  /** In order of use, the most recent last. */
  const known = new Set<string>()
  const use = (key: string): void => {
    known.delete(key)
    known.add(key)
  }
  return {
    add: (identity) => {
      use(Identity.keyOf(identity))
      if (known.size <= capacity) return
      for (const oldest of known) {
        known.delete(oldest)
        return
      }
    },
    has: (identity) => {
      const key = Identity.keyOf(identity)
      if (!known.has(key)) return false
      use(key)
      return true
    }
  }
}
