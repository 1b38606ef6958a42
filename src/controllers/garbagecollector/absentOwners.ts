/**
 * Owners that are known not to exist, so that a thousand dependents of one deleted owner cost one question. An entry can never
 * become wrong: it holds the uid, and a uid does not come back. The least recently used is forgotten, which costs a request.
 */
import * as Identity from "./Identity.ts"

export interface AbsentOwners {
  readonly add: (identity: Identity.Identity) => void
  /** Being asked for is a use. */
  readonly has: (identity: Identity.Identity) => boolean
}

export const make = (capacity: number): AbsentOwners => {
  /** In the order of use, the latest last. */
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
