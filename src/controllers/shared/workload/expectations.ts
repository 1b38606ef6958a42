/**
 * The books of one loop: for each owner, the creations and deletions of dependents that it asked for and that the cache has not shown yet. While
 * some are missing the owner's dependents are not managed, because they would be counted wrongly. Triggers tell of what they see, callers
 * of what failed and will never be seen. Plain synchronous state, for one term of leadership. Times are monotonic milliseconds.
 * Source: spec A.2, the variant that knows the deletions by key.
 */
import type { Key } from "../../../kube/Key.ts"

/** A record older than this holds nobody up: whatever it waits for was missed. */
export const expiry = 5 * 60 * 1000

export interface Expectations {
  /** That many objects are about to be created; replaces what was expected of the owner before. */
  readonly expectCreations: (owner: Key, count: number, now: number) => void
  /** These objects are about to be deleted; replaces what was expected of the owner before. */
  readonly expectDeletions: (owner: Key, dependents: Iterable<Key>, now: number) => void
  /** That many objects are about to be created and these deleted; replaces what was expected of the owner before. */
  readonly expectBoth: (owner: Key, creations: number, dependents: Iterable<Key>, now: number) => void
  /** One creation was seen, or failed, or was never attempted. */
  readonly creationObserved: (owner: Key) => void
  /** The deletion was seen, or failed. It is seen twice, as a deletion timestamp and as the end, and counts once. */
  readonly deletionObserved: (owner: Key, dependent: Key) => void
  /** Milliseconds until the owner may be managed: zero if nothing is missing or the record is too old. */
  readonly wait: (owner: Key, now: number) => number
  /** The owner is gone: a namesake starts clean. */
  readonly forget: (owner: Key) => void
}

/** Never without something missing: what is complete is not kept. */
interface Book {
  readonly since: number
  /** Not seen yet; below zero, harmlessly, when something nobody expected was seen while deletions were awaited. */
  creations: number
  /** Not seen yet, each once. */
  readonly deletions: Set<Key>
}

export const make = (): Expectations => {
  const books = new Map<Key, Book>()

  const open = (owner: Key, book: Book): void => {
    books.set(owner, book)
    settle(owner, book)
  }

  const settle = (owner: Key, book: Book): void => {
    if (book.creations <= 0 && book.deletions.size === 0) books.delete(owner)
  }

  return {
    expectCreations: (owner, creations, since) => open(owner, { since, creations, deletions: new Set() }),
    expectDeletions: (owner, dependents, since) => open(owner, { since, creations: 0, deletions: new Set(dependents) }),
    expectBoth: (owner, creations, dependents, since) =>
      open(owner, { since, creations, deletions: new Set(dependents) }),
    creationObserved: (owner) => {
      const book = books.get(owner)
      if (book === undefined) return
      book.creations--
      settle(owner, book)
    },
    deletionObserved: (owner, dependent) => {
      const book = books.get(owner)
      if (book === undefined) return
      book.deletions.delete(dependent)
      settle(owner, book)
    },
    wait: (owner, now) => {
      const book = books.get(owner)
      return book === undefined ? 0 : Math.max(0, book.since + expiry - now)
    },
    forget: (owner) => void books.delete(owner)
  }
}
