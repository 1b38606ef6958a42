/**
 * A selection of objects on a server as an endless stream of changes: initial list, watch, resume, relist. The decisions
 * are `watchMachine.ts`, a pure function; here they are carried out: requests, waits, the idle limit of a connection.
 * The stream never fails and never ends; failures are `Failed` changes. Interrupting it closes the connection, and no
 * request is made afterwards.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Duration from "effect/Duration"
import type * as ApiError from "../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../kube/Meta.ts"
import type { Change } from "./Change.ts"

export type { Change } from "./Change.ts"

/** One line of a watch, as a transport decodes it. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  readonly object: unknown
}

/** How to list and watch one selection; `KubeClient` bound to a resource, namespace and selector. */
export interface Source<A extends KubeObject> {
  /** One page. An empty `resourceVersion` asks for the most recent state; `"0"` for any. */
  readonly list: (request: {
    readonly limit: number
    readonly continue?: string
    readonly resourceVersion?: string
    readonly resourceVersionMatch?: "NotOlderThan"
  }) => Effect.Effect<KubeList<A>, ApiError.ApiError>
  /** Raw events in chunks. With `sendInitialEvents` an empty `resourceVersion` asks for the most recent state. */
  readonly watch: (request: {
    readonly resourceVersion: string
    readonly allowWatchBookmarks: true
    readonly timeoutSeconds: number
    readonly sendInitialEvents?: true
    readonly resourceVersionMatch?: "NotOlderThan"
  }) => Stream.Stream<WatchEvent, ApiError.ApiError>
}

export interface Options<A extends KubeObject> {
  /** `auto` (default) asks for a streaming list first and falls back to pages where the server refuses it. */
  readonly streamingList?: "auto" | "never" | undefined
  /** A connection on which nothing arrives for so long is dead. Default 70 s: servers send a bookmark about every minute. */
  readonly idleTimeout?: Duration.Input | undefined
  /** Objects of a page. Default 500. */
  readonly pageSize?: number | undefined
  /** Applied to every object as it arrives, listed or watched; may mutate it. `trim` goes here. */
  readonly transform?: ((object: A) => A) | undefined
  /** For the errors found here (a malformed event, a silent connection). */
  readonly context?: ApiError.Context | undefined
}

export const watch = <A extends KubeObject>(_source: Source<A>, _options: Options<A> = {}): Stream.Stream<Change<A>> =>
  Stream.never
