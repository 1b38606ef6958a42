/**
 * The deltas that one subscriber of `changes` has not fetched yet. The informer adds deltas without waiting; the subscriber takes all of
 * them at once. Deltas of one key merge ({@link merge}), so the buffer is bounded by the number of keys, however slow the subscriber is.
 * Keys are returned in the order in which they were first added.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Pull from "effect/Pull"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Created, Deleted, Delta, Updated } from "../../streams/store/Store.ts"

export interface Buffer<A extends KubeObject> {
  readonly offerUnsafe: (deltas: ReadonlyArray<Delta<A>>) => void
  /** Takes all deltas; an empty array if there are none. */
  readonly takeAllUnsafe: () => Array<Delta<A>>
  /** Waits for deltas and takes all. The next call means that the deltas taken before have been processed. */
  readonly pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Delta<A>>>
  /** The subscription has ended: drops everything. */
  readonly closeUnsafe: () => void
}

export const make = <A extends KubeObject>(outstanding: Outstanding): Buffer<A> => {
  const pending = new Map<Key.Key, Pending<A>>()
  /** Open while there is something to take. */
  const filled = Latch.makeUnsafe(false)
  /** The number of deltas in the last chunk taken, until the next is taken. */
  let taken = 0

  const offerUnsafe = (deltas: ReadonlyArray<Delta<A>>): void => {
    const before = pending.size
    for (const delta of deltas) {
      const key = Key.of(delta.object)
      const merged = merge(pending.get(key), delta)
      if (merged === undefined) pending.delete(key)
      else pending.set(key, merged)
    }
    outstanding.addUnsafe(pending.size - before)
    if (pending.size > 0) filled.openUnsafe()
    else filled.closeUnsafe()
  }

  const takeAllUnsafe = (): Array<Delta<A>> => {
    const deltas: Array<Delta<A>> = []
    for (const { deleted, present } of pending.values()) {
      if (deleted !== undefined) deltas.push(deleted)
      if (present !== undefined) deltas.push(present)
    }
    outstanding.addUnsafe(deltas.length - pending.size - taken)
    taken = deltas.length
    pending.clear()
    filled.closeUnsafe()
    return deltas
  }

  const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Delta<A>>> = Effect.suspend(() => {
    const deltas = takeAllUnsafe()
    return Arr.isArrayNonEmpty(deltas) ? Effect.succeed(deltas) : Effect.andThen(filled.await, pull)
  })

  return {
    offerUnsafe,
    takeAllUnsafe,
    pull,
    closeUnsafe: () => {
      takeAllUnsafe()
      takeAllUnsafe()
    }
  }
}

/** The deltas of one key that a subscriber has not received yet, in this order; never empty. */
export interface Pending<out A> {
  /** The deletion of the object that the subscriber knows. */
  readonly deleted: Deleted<A> | undefined
  /** The present object; a `Created` if the subscriber does not know it. */
  readonly present: Created<A> | Updated<A> | undefined
}

/**
 * Merges a delta that was not fetched with the next one of the same key. Applying the merged deltas gives the same final state, with the
 * same uids, as applying all of them. An update has the oldest `previous` and the newest object; a creation that was not delivered and
 * its deletion cancel; a deletion and a recreation stay two deltas, because they are about two objects. Undefined when nothing is left.
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

/**
 * Counts the deltas that subscribers have not processed yet: those in buffers, and those of a chunk after which the subscriber has not
 * taken the next. Tests wait for zero instead of sleeping.
 */
export interface Outstanding {
  readonly count: () => number
  /** Adds to the count; a negative number subtracts. */
  readonly addUnsafe: (by: number) => void
  /** Waits until nothing is outstanding. */
  readonly settled: Effect.Effect<void>
}

export const makeOutstanding = (): Outstanding => {
  const none = Latch.makeUnsafe(true)
  let count = 0
  return {
    count: () => count,
    addUnsafe: (by) => {
      count += by
      if (count === 0) none.openUnsafe()
      else none.closeUnsafe()
    },
    settled: none.await
  }
}
