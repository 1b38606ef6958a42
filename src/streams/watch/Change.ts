/**
 * What a watch tells: the protocol between `watch` (which produces it), `Store` (which applies it) and the informers.
 * A full state arrives as `Restarted, Listed*, Synced`; until `Synced` whatever was known before stays true. Between
 * `Restarted` and `Synced` a `Changed` belongs to the state under construction (a streaming list may deliver deletions).
 */
import type * as Duration from "effect/Duration"
import type { ApiError } from "../../kube/ApiError.ts"

/** What a watch has learned of its selection. */
export type Change<A> = Restarted | Listed<A> | Synced | Changed<A> | Failed

/** A full state is about to be read. Parts of an earlier, unfinished one are void. */
export interface Restarted {
  readonly _tag: "Restarted"
}

/** A part of the full state. */
export interface Listed<out A> {
  readonly _tag: "Listed"
  /** One page of them. */
  readonly objects: ReadonlyArray<A>
}

/** The full state is complete, as of this version: objects that were not in it are gone. */
export interface Synced {
  readonly _tag: "Synced"
  /** Of the list: from here on the watch tells. */
  readonly resourceVersion: string
}

/** Events of one chunk in the server's order, and the version they lead to; none, when it was a bookmark. */
export interface Changed<out A> {
  readonly _tag: "Changed"
  /** In the server's order. */
  readonly events: ReadonlyArray<ObjectEvent<A>>
  /** The version that the watch has reached with them. */
  readonly resourceVersion: string
}

/** One object has changed. */
export interface ObjectEvent<out A> {
  /** How: created, changed, or gone. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** The object after the change; for DELETED its last state. */
  readonly object: A
}

/** Something went wrong and is being retried. Any later `Synced` or `Changed` means that it works again. */
export interface Failed {
  readonly _tag: "Failed"
  /** Why. */
  readonly error: ApiError
  /** Failures in a row, counted from 1; 0 for one that costs no wait. */
  readonly attempt: number
  /** The wait that follows. */
  readonly delay: Duration.Duration
}

/** The one value of {@link Restarted}. */
export const restarted: Restarted = { _tag: "Restarted" }
