/**
 * A shared informer as its subscribers see it, and what it is about: a store that is kept in step with one selection on the server.
 * `informer/SharedInformer.ts` runs it.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Delta } from "../../streams/store/Delta.ts"
import type * as Store from "../../streams/store/Store.ts"
import type * as Audience from "./informer/Audience.ts"
import type { InformerFailure } from "./informer/report.ts"

export type { Listener } from "./informer/Audience.ts"
export type { InformerFailure } from "./informer/report.ts"

/** Which objects of a kind: those of one namespace, or with these labels or fields; all, where nothing is said. */
export interface Selection {
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined
  /** The query form, `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined
  /** The query form, `spec.nodeName=a`. */
  readonly fieldSelector?: string | undefined
}

/** A subscription's view of the shared informer; valid for the scope of the subscription. */
export interface Informer<out A extends KubeObject> {
  /** The kind. */
  readonly resource: Resource.Resource<A>
  /** The part of it. */
  readonly selection: Selection
  /** The present state, synchronously; empty until the first sync. */
  readonly store: Store.Readable<A>
  /** Waits for the first sync: the store is full, and every listener has been told. Interrupts if the informer is closed. */
  readonly synced: Effect.Effect<void>
  /** Every present object as `Created` with `initial`, then what happens, merged by key while the subscriber is slow. */
  readonly changes: Stream.Stream<Delta<A>>
  /**
   * The cheap way: a synchronous callback a chunk, until the scope closes; called at once with what is present. For work
   * that cannot pile up, like adding keys to a queue. An exception is reported in the status and stops nothing.
   */
  readonly onDeltas: (listener: Audience.Listener<A>) => Effect.Effect<void, never, Scope.Scope>
  /** One entry for each of its watches; one without a watch, while none is meant. */
  readonly status: Effect.Effect<ReadonlyArray<InformerStatus>>
}

/** What a human or a readiness probe wants to know of one watch of an informer. */
export interface InformerStatus {
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  /** Of the resource; tells projections of one kind apart. */
  readonly id: string
  /** Of the watch: with its namespace, where there is one for each. */
  readonly selection: Selection
  /** It has read its full state once. */
  readonly synced: boolean
  /** How many it holds. */
  readonly objects: number
  /** How big they are together, as JSON, more or less; measured when it is asked for. */
  readonly bytesUnsafe: () => number
  /** How far it is; undefined before the first sync. */
  readonly resourceVersion: string | undefined
  /** When it began. Wall clock, milliseconds. */
  readonly startedAt: number
  /** Failures in a row; 0 while it works. */
  readonly attempts: number
  /** Kept after recovery, so that it can still be read. */
  readonly lastError: InformerFailure | undefined
  /** When the server last told anything, a bookmark included. Wall clock, milliseconds. */
  readonly lastEventAt: number | undefined
  /** Faults in this process that the informer survived. */
  readonly defects: number
  /** Exceptions that listeners and callbacks of version waits have thrown, and the last one. */
  readonly listenerErrors: number
  /** The last of them. */
  readonly lastListenerError: unknown
  /** Who keeps it running. */
  readonly subscribers: number
}
