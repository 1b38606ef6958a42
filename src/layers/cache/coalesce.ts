/**
 * What becomes of a delta that its subscriber has not fetched yet when the next one of the same key arrives. A pure, total
 * table: whoever applies the merged deltas ends with the state, and sees the identities, of whoever applies all of them.
 * At most two deltas a key remain, so a subscriber that fetches nothing costs memory by the number of keys, not of events.
 */
import type { Created, Deleted, Delta, Updated } from "../../streams/store/Delta.ts"

/** What one subscriber still has to be told of one key, in this order; never empty. */
export interface Pending<out A> {
  /** The object that the subscriber knows is gone. */
  readonly deleted: Deleted<A> | undefined
  /** The object as it is now; a `Created` if the subscriber does not know it. */
  readonly present: Created<A> | Updated<A> | undefined
}

/**
 * Oldest `previous`, newest object; a creation nobody was told of and its deletion cancel; delete and recreate stay two
 * deltas, because the second object is another one. Undefined when nothing is left to tell.
 */
export const merge = <A>(pending: Pending<A> | undefined, delta: Delta<A>): Pending<A> | undefined => {
  if (delta._tag === "Deleted") return mergeDeleted(pending, delta)
  if (pending === undefined) return { deleted: undefined, present: delta }
  const { deleted, present } = pending
  if (present === undefined) return { deleted, present: created(delta.object, false) }
  return {
    deleted,
    present:
      present._tag === "Created"
        ? created(delta.object, present.initial)
        : { _tag: "Updated", object: delta.object, previous: present.previous }
  }
}

const mergeDeleted = <A>(pending: Pending<A> | undefined, delta: Deleted<A>): Pending<A> | undefined => {
  if (pending === undefined || pending.present?._tag === "Updated") return { deleted: delta, present: undefined }
  return pending.deleted === undefined ? undefined : { deleted: pending.deleted, present: undefined }
}

const created = <A>(object: A, initial: boolean): Created<A> => ({ _tag: "Created", object, initial })
