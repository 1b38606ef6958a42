/** What a watch asks of a server: a page, a watch, a streaming list, or to be left waiting. Pure data. Source: client-go's tools/cache: Reflector. */

export type Request =
  | { readonly _tag: "List"; readonly options: ListRequest }
  | { readonly _tag: "Watch"; readonly options: WatchRequest }
  | { readonly _tag: "Sleep"; readonly millis: number }

/** One page of a list. */
export interface ListRequest {
  /** Objects in the page. */
  readonly limit: number
  /** Where it begins, from the page before. */
  readonly continue?: string
  /** The version that is wanted: `0` is whatever the server has at hand. */
  readonly resourceVersion?: string
  /** How that is meant. */
  readonly resourceVersionMatch?: "NotOlderThan"
}

/** One watch. */
export interface WatchRequest {
  /** From which version on; empty for a streaming list. */
  readonly resourceVersion: string
  /** The server tells now and then how far it is. */
  readonly allowWatchBookmarks: true
  /** When the server is to end it. */
  readonly timeoutSeconds: number
  /** Begins with all objects there are: a streaming list. */
  readonly sendInitialEvents?: true
  /** Goes with `sendInitialEvents`. */
  readonly resourceVersionMatch?: "NotOlderThan"
}

/** `at`: `"0"` any version, a version for "not older than", empty for the most recent; a page after the first begins at its token. */
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

/** `at` as for a page, except that any version is the most recent one. */
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
