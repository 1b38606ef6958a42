/** What a watch requests, receives and emits: types, and the constructors of requests. Source: client-go's tools/cache: Reflector. */
import type * as Duration from "effect/Duration"
import type { ApiError } from "../../kube/ApiError.ts"

/** What a watch does next: read a page, open a watch, or wait. */
export type Request =
  | { readonly _tag: "List"; readonly options: ListRequest }
  | { readonly _tag: "Watch"; readonly options: WatchRequest }
  | { readonly _tag: "Sleep"; readonly millis: number }

/** One page of a list. */
export interface ListRequest {
  /** Objects in the page. */
  readonly limit: number
  /** Continue token of the page before. */
  readonly continue?: string
  /** `0`: any version that the server has cached. */
  readonly resourceVersion?: string
  /** How the server matches the version. */
  readonly resourceVersionMatch?: "NotOlderThan"
}

/** One watch. */
export interface WatchRequest {
  /** The version after which the watch begins; may be empty for a streaming list. */
  readonly resourceVersion: string
  /** Asks for bookmarks. */
  readonly allowWatchBookmarks: true
  /** When the server ends the watch. */
  readonly timeoutSeconds: number
  /** Requests a streaming list: all present objects first. */
  readonly sendInitialEvents?: true
  /** Required with `sendInitialEvents`. */
  readonly resourceVersionMatch?: "NotOlderThan"
}

/** `at`: `"0"` for any version, a version for "not older than", empty for the most recent. A page after the first has a continue token. */
export const page = (limit: number, at: string, token: string | undefined): Request => ({
  _tag: "List",
  options: {
    limit,
    ...(token !== undefined
      ? { continue: token }
      : at === ""
        ? {}
        : at === "0"
          ? { resourceVersion: "0" }
          : { resourceVersion: at, resourceVersionMatch: "NotOlderThan" })
  }
})

/** Server-side timeouts are drawn from [300, 600) seconds, so that watches do not all end together. `random` is in [0, 1). */
export const watch = (resourceVersion: string, random: number): Request => ({
  _tag: "Watch",
  options: watchOptions(resourceVersion, random)
})

/** `at` as for a page, except that `"0"` requests the most recent version. */
export const streamingList = (at: string, random: number): Request => ({
  _tag: "Watch",
  options: {
    ...watchOptions(at === "0" ? "" : at, random),
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan"
  }
})

const watchOptions = (resourceVersion: string, random: number): WatchRequest => ({
  resourceVersion,
  allowWatchBookmarks: true,
  timeoutSeconds: 300 + Math.floor(random * 300)
})

/** One parsed event of a watch, its object not checked. */
export interface WatchEvent {
  /** A bookmark only has the version that the watch has reached. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  /** The object, not checked. */
  readonly object: unknown
}

/** One object has changed. */
export interface ObjectEvent<out A> {
  /** Created, changed, or deleted. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** The object after the change; for DELETED its last state. */
  readonly object: A
}

/**
 * What a watch emits and a store applies. A full state arrives as `Restarted, Listed*, Synced`; until `Synced` the previous state stays
 * visible, and a `Changed` in between belongs to the state under construction (a streaming list may deliver deletions).
 */
export type Change<A> = Restarted | Listed<A> | Synced | Changed<A> | Failed

/** A full state follows; drop the parts of an unfinished one. */
export interface Restarted {
  readonly _tag: "Restarted"
}

/** A part of the full state. */
export interface Listed<out A> {
  readonly _tag: "Listed"
  /** The objects of one page. */
  readonly objects: ReadonlyArray<A>
}

/** The full state is complete: objects that were not in it are gone. */
export interface Synced {
  readonly _tag: "Synced"
  /** The version of the list, from which the watch resumes. */
  readonly resourceVersion: string
}

/** The events of one chunk; none if it had only a bookmark. */
export interface Changed<out A> {
  readonly _tag: "Changed"
  /** In the server's order. */
  readonly events: ReadonlyArray<ObjectEvent<A>>
  /** The version that the watch has reached with them. */
  readonly resourceVersion: string
}

/** A failure that is retried. A later `Synced` or `Changed` means that the watch works again. */
export interface Failed {
  readonly _tag: "Failed"
  /** The error. */
  readonly error: ApiError
  /** The number of failures in a row, from 1; 0 for a failure without a wait. */
  readonly attempt: number
  /** The wait that follows. */
  readonly delay: Duration.Duration
}
