/**
 * What a subscriber of an informer sees: one change of one object, with the state before it. A deletion that was missed
 * while the watch was down still arrives, marked `stateUnknown`; an object that was deleted and recreated under one name
 * arrives as a delete and a create. Source: framework.md 2.5.
 */

export type Delta<A> = Created<A> | Updated<A> | Deleted<A>

/** An object that was not in the store before. */
export interface Created<out A> {
  readonly _tag: "Created"
  /** As it is now. */
  readonly object: A
  /** True while the first list is being delivered: the object existed before we looked. */
  readonly initial: boolean
}

/** An object that has changed, or is told again by a resync. */
export interface Updated<out A> {
  readonly _tag: "Updated"
  /** As it is now. */
  readonly object: A
  /** The object as it was in the store; `===` the object for a resync. */
  readonly previous: A
}

/** An object that is gone from the store. */
export interface Deleted<out A> {
  readonly _tag: "Deleted"
  /** The last state known; the final one only if `stateUnknown` is false. */
  readonly object: A
  /** True when the deletion was inferred from a list instead of being watched. */
  readonly stateUnknown: boolean
}
