/**
 * One shared informer: a store that is kept in step with one selection on the server, by one watch of all of it or by one for each
 * of some namespaces, and whoever listens. It lives in the scope it is made in. Order within each chunk of changes: store,
 * listeners, sync, version waits; all of it in one synchronous section, so a listener that joins between two chunks misses
 * nothing and sees nothing twice. No failure ends it (`informer/reflector.ts`).
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Change } from "../../streams/watch/Change.ts"
import type { Delta } from "../../streams/store/Delta.ts"
import * as Store from "../../streams/store/Store.ts"
import * as Buffer from "./Buffer.ts"
import type * as Audience from "./informer/Audience.ts"
import * as Branches from "./informer/branches.ts"
import type * as Namespaces from "./informer/Namespaces.ts"
import type { InformerFailure } from "./informer/report.ts"
import * as Resync from "./informer/resync.ts"
import * as Size from "./informer/size.ts"
import type * as Source from "./informer/Source.ts"
import * as Whole from "./informer/whole.ts"
import type { CacheMetrics } from "./metrics.ts"
import type { Outstanding } from "./Outstanding.ts"
import type * as VersionWaits from "./VersionWaits.ts"

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

/** The owner's view. */
export interface Shared<out A extends KubeObject> extends Informer<A> {
  readonly addIndex: Store.Store<A>["addIndex"]
  readonly gate: VersionWaits.Gate
  /** Like `synced`; fails when the informer stops before. */
  readonly ready: Effect.Effect<void, void>
  readonly statusUnsafe: () => ReadonlyArray<InformerStatus>
  /** Subscriptions that are open; the registry counts. */
  subscribers: number
}

export interface Options<A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  readonly selection: Selection
  /** The watch of one namespace, or of the whole selection. */
  readonly watch: (namespace: string | undefined) => Stream.Stream<Change<A>>
  /** With them there is a watch for each, and none of the whole. */
  readonly namespaces?: Namespaces.Namespaces | undefined
  /** Absent: never. */
  readonly resync?: Resync.Resync | undefined
  readonly freeze: boolean
  readonly outstanding: Outstanding
  readonly metrics: Pick<CacheMetrics, "relisted">
}

export const make = Effect.fnUntraced(function* <A extends KubeObject>(
  options: Options<A>
): Effect.fn.Return<Shared<A>, never, Scope.Scope> {
  const { outstanding, resource, resync, selection } = options
  const ready = Deferred.makeUnsafe<void, void>()
  const waits: VersionWaits.Gate["waits"] = new Set()
  const source = yield* options.namespaces === undefined
    ? Whole.make(options, ready, waits)
    : Branches.make(options, options.namespaces, ready, waits)
  const { audience, gate, store } = source

  const changes = Stream.unwrap(
    Effect.gen(function* () {
      const buffer = Buffer.make<A>(outstanding)
      yield* Effect.addFinalizer(() => Effect.sync(buffer.closeUnsafe))
      yield* audience.onDeltas(buffer.offerUnsafe)
      return Stream.fromPull(Effect.succeed(buffer.pull))
    })
  )

  const statusOf = ({ namespace, ...watch }: Source.WatchStatus): InformerStatus => ({
    resource: Resource.qualifiedName(resource),
    id: resource.id,
    selection: namespace === undefined ? selection : { ...selection, namespace },
    ...watch,
    bytesUnsafe: () =>
      Size.estimate(namespace === undefined ? store.list() : store.byIndex(Store.namespaceIndex, namespace)),
    ...audience.state(),
    subscribers: self.subscribers
  })
  const statusUnsafe = (): ReadonlyArray<InformerStatus> => source.watches().map(statusOf)

  const self: Shared<A> = {
    resource,
    selection,
    store,
    ready: Deferred.await(ready),
    synced: Deferred.await(ready).pipe(Effect.catch(() => Effect.interrupt)),
    changes,
    onDeltas: audience.onDeltas,
    addIndex: (name, of) => store.addIndex(name, of),
    gate,
    subscribers: 0,
    statusUnsafe,
    status: Effect.sync(statusUnsafe)
  }
  if (resync !== undefined) {
    yield* Effect.forkScoped(Effect.andThen(Effect.ignore(self.ready), Resync.run(resync, store, audience)))
  }
  return self
})
