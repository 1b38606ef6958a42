/**
 * One shared informer: a store that is kept in step with one selection on the server, by one watch of all of it or by one for each
 * of some namespaces, and its listeners. It lives in the scope it is made in. Order within each chunk of changes: store,
 * listeners, sync, version waits; all of it in one synchronous section, so a listener that joins between two chunks misses
 * nothing and sees nothing twice. No failure ends it (`reflector.ts`). Source: client-go tools/cache: sharedIndexInformer.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import * as Store from "../../../streams/store/Store.ts"
import type { Change } from "../../../streams/watch/Change.ts"
import * as Buffer from "../Buffer.ts"
import type { Informer, InformerStatus, Selection } from "../Informer.ts"
import type { Outstanding } from "../Outstanding.ts"
import * as VersionWaits from "../VersionWaits.ts"
import * as Audience from "./Audience.ts"
import * as Branches from "./branches.ts"
import type * as Namespaces from "./Namespaces.ts"
import * as Reflector from "./reflector.ts"
import * as Resync from "./resync.ts"
import * as Source from "./Source.ts"

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

export interface Options<A extends KubeObject> extends Source.Options<A> {
  readonly selection: Selection
  /** With them there is a watch for each, and none of the whole. */
  readonly namespaces?: Namespaces.Namespaces | undefined
  /** Absent: never. */
  readonly resync?: Resync.Resync | undefined
  readonly outstanding: Outstanding
}

export const make = Effect.fnUntraced(function* <A extends KubeObject>(
  options: Options<A>
): Effect.fn.Return<Shared<A>, never, Scope.Scope> {
  const { outstanding, resource, resync, selection } = options
  const ready = Deferred.makeUnsafe<void, void>()
  const waits: VersionWaits.Gate["waits"] = new Set()
  const source = yield* options.namespaces === undefined
    ? singleWatch(options, ready, waits)
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
      estimate(namespace === undefined ? store.list() : store.byIndex(Store.namespaceIndex, namespace)),
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

/** A store kept in step by one watch of the whole selection. */
const singleWatch = Effect.fnUntraced(function* <A extends KubeObject>(
  { freeze, metrics, resource, watch }: Source.Options<A>,
  ready: Source.Ready,
  waits: VersionWaits.Gate["waits"]
): Effect.fn.Return<Source.Source<A>, never, Scope.Scope> {
  const of = Resource.qualifiedName(resource)
  const store = Store.make<A>({ freeze })
  const audience = Audience.make(of, store)
  const gate: VersionWaits.Gate = {
    waits,
    hasPassed: (key, version) =>
      VersionWaits.hasPassed(store.resourceVersion, store.get(key)?.metadata.resourceVersion, version),
    threw: audience.threw
  }
  const accept = (change: Change<A>): void => {
    audience.tell(store.apply(change))
    if (change._tag === "Synced") Deferred.doneUnsafe(ready, Effect.void)
    if (waits.size > 0) VersionWaits.passUnsafe(gate)
  }
  const clock = yield* Clock.Clock
  const reflector = Reflector.make({ clock, of, changes: watch(undefined), accept, after: audience.flush, metrics })
  yield* Source.releasing(gate, ready)
  yield* Effect.forkScoped(reflector.run)
  return {
    store,
    audience,
    gate,
    watches: () => [
      {
        namespace: undefined,
        synced: store.synced,
        objects: store.size,
        resourceVersion: store.resourceVersion,
        ...reflector.state()
      }
    ]
  }
})

/** Objects that are measured. */
export const sample = 128

/**
 * How big objects are together, by their length as JSON, which is what they were sent as: an order of magnitude for who looks for what
 * fills the memory. Of many only some are measured, evenly spread, so that asking costs little.
 */
export const estimate = (objects: ReadonlyArray<unknown>): number => {
  if (objects.length === 0) return 0
  const step = Math.max(1, objects.length / sample)
  let [measured, sum] = [0, 0]
  for (let at = 0; at < objects.length; at += step) {
    sum += JSON.stringify(objects[Math.floor(at)])?.length ?? 0
    measured++
  }
  return Math.round((sum / measured) * objects.length)
}
