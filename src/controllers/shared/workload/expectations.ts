/**
 * Expectations: for each owner, the creations and deletions that the loop requested and the cache has not shown yet. While some are missing the
 * owner's dependents are not managed, since they would be miscounted. Triggers record what they observe, callers record failed calls. Plain
 * synchronous state for one leadership term. Times are monotonic milliseconds. Source: pkg/controller: UIDTrackingControllerExpectations.
 */
import type { Key } from "../../../kube/Key.ts"

/** A record older than this is ignored: the expected events were missed. */
export const expiry = 5 * 60 * 1000

export interface Expectations {
  /** That many objects are about to be created; replaces what was expected of the owner before. */
  readonly expectCreations: (owner: Key, count: number, now: number) => void
  /** These objects are about to be deleted; replaces what was expected of the owner before. */
  readonly expectDeletions: (owner: Key, dependents: Iterable<Key>, now: number) => void
  /** That many objects are about to be created and these deleted; replaces what was expected of the owner before. */
  readonly expectBoth: (owner: Key, creations: number, dependents: Iterable<Key>, now: number) => void
  /** One creation was observed, or failed, or was never attempted. */
  readonly creationObserved: (owner: Key) => void
  /** The deletion was observed, or failed. A deletion timestamp and the final DELETED event count once together. */
  readonly deletionObserved: (owner: Key, dependent: Key) => void
  /** Milliseconds until the owner may be managed: zero if nothing is missing or the record is too old. */
  readonly wait: (owner: Key, now: number) => number
  /** The owner is gone: a new owner of its name starts without expectations. */
  readonly forget: (owner: Key) => void
}

/** Removed as soon as nothing is missing. */
interface Expected {
  readonly since: number
  /** Not observed yet. Below zero after unexpected creations while deletions are expected, which has no effect. */
  creations: number
  /** Not observed yet. */
  readonly deletions: Set<Key>
}

export const make = (): Expectations => {
  const expectations = new Map<Key, Expected>()

  const open = (owner: Key, expected: Expected): void => {
    expectations.set(owner, expected)
    settle(owner, expected)
  }

  const settle = (owner: Key, expected: Expected): void => {
    if (expected.creations <= 0 && expected.deletions.size === 0) expectations.delete(owner)
  }

  return {
    expectCreations: (owner, creations, since) => open(owner, { since, creations, deletions: new Set() }),
    expectDeletions: (owner, dependents, since) => open(owner, { since, creations: 0, deletions: new Set(dependents) }),
    expectBoth: (owner, creations, dependents, since) =>
      open(owner, { since, creations, deletions: new Set(dependents) }),
    creationObserved: (owner) => {
      const expected = expectations.get(owner)
      if (expected === undefined) return
      expected.creations--
      settle(owner, expected)
    },
    deletionObserved: (owner, dependent) => {
      const expected = expectations.get(owner)
      if (expected === undefined) return
      expected.deletions.delete(dependent)
      settle(owner, expected)
    },
    wait: (owner, now) => {
      const expected = expectations.get(owner)
      return expected === undefined ? 0 : Math.max(0, expected.since + expiry - now)
    },
    forget: (owner) => void expectations.delete(owner)
  }
}
