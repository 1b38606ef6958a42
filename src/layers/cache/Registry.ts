/**
 * The informers of a cache: at most one for each kind and selection, started by the first reference, stopped when the last one has been
 * released and an idle time has passed (`RcMap`). Each watches through the client. This file starts informers and reports their status;
 * what an informer does with an event is in `Informer.ts`.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import { Namespace } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as Store from "../../streams/store/Store.ts"
import * as Watch from "../../streams/watch/watch.ts"
import { KubeClient } from "../KubeClient.ts"
import * as Buffer from "./Buffer.ts"
import * as Informer from "./Informer.ts"
import * as HeldNamespaces from "./informer/HeldNamespaces.ts"
import * as Namespaces from "./informer/Namespaces.ts"
import { perNamespaceWatch } from "./informer/PerNamespaceWatch.ts"
import * as Resync from "./informer/resync.ts"
import * as Kinds from "./kinds.ts"
import * as CacheMetrics from "./metrics.ts"
import type { Outstanding } from "./Buffer.ts"
import type * as VersionWaits from "./VersionWaits.ts"

/** Settings of the layer. */
export interface Options extends Kinds.Kinds {
  /** How long an informer outlives its last subscriber. Default 30 s. */
  readonly idleTimeToLive?: Duration.Input | undefined
  readonly streamingList?: "auto" | "never" | undefined
  readonly idleTimeout?: Duration.Input | undefined
  readonly pageSize?: number | undefined
  /**
   * The namespaces whose objects are cached, each with a watch of its own. A subscription that names a namespace gets that namespace in any
   * case. With labels: the namespaces that have the labels at that moment, which the cache then watches. Default: all namespaces.
   */
  readonly namespaces?: ReadonlyArray<string> | { readonly labels: Selector.LabelSelector } | undefined
  /**
   * The number of shards, where namespaces are divided into shards: of the namespaces above only those of held shards are cached, see `Cache.holdShard`.
   * Default: namespaces are cached whatever their shard.
   */
  readonly shards?: number | undefined
  /** False: a key may be reconciled again before the cache contains what its last run wrote. Default true. */
  readonly readYourWrites?: boolean | undefined
}

export const identity = (
  resource: Resource.Any,
  { namespace, labelSelector, fieldSelector }: Informer.Selection
): string =>
  namespace === undefined && labelSelector === undefined && fieldSelector === undefined
    ? resource.id
    : JSON.stringify([resource.id, namespace, labelSelector, fieldSelector])

/** Key of the `RcMap`. Two keys with the same identity are equal. */
class InformerKey implements Equal.Equal {
  readonly id: string
  readonly resource: Resource.Any
  readonly selection: Informer.Selection

  constructor(resource: Resource.Any, selection: Informer.Selection) {
    this.id = identity(resource, selection)
    this.resource = resource
    this.selection = selection
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof InformerKey && that.id === this.id
  }

  [Hash.symbol](): number {
    return Hash.string(this.id)
  }
}

/** Informers by identity: `shared` takes a reference for the caller's scope, `informers` has those that run at this moment. */
export const make = Effect.fnUntraced(function* (options: Options, outstanding: Outstanding, freeze: boolean) {
  const client = yield* KubeClient
  const informers = new Map<string, SharedInformer<KubeObject>>()
  const metrics = yield* CacheMetrics.make(() =>
    Array.from(informers.values()).flatMap((informer) => informer.statusUnsafe())
  )
  const selected = selectedOf(options)
  const namespaces = selected?.namespaces
  const streamingSupport = Watch.streamingSupport(
    Effect.logInfo(
      "The API server cannot stream lists, because its etcd does not report progress: kinds are listed instead, and it is asked again after an hour"
    )
  )

  const lookup = Effect.fnUntraced(function* ({ id, resource, selection }: InformerKey) {
    const settings = Kinds.of(options, resource)
    const prepare = Informer.prepare(resource, settings)
    const informer = yield* makeInformer({
      resource,
      selection,
      watch: (namespace) => {
        const selected = namespace === undefined ? selection : { ...selection, namespace }
        return Watch.watch(sourceOf(client, resource, selected, settings), {
          ...watchOptions(options, resource, selected, prepare),
          streamingSupport
        })
      },
      namespaces: resource.scope === "Namespaced" && selection.namespace === undefined ? namespaces : undefined,
      resync: settings.resync === "never" ? undefined : settings.resync,
      freeze,
      outstanding,
      counters: metrics.countersOf(resource)
    })
    informers.set(id, informer)
    metrics.track(resource)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // Another informer may have been started under this id while this one was closing.
        if (informers.get(id) === informer) informers.delete(id)
      })
    )
    return informer
  })

  const references = yield* RcMap.make({ lookup, idleTimeToLive: options.idleTimeToLive ?? "30 seconds" })
  const context = yield* Effect.context()
  const shared = <A extends KubeObject>(resource: Resource.Resource<A>, selection: Informer.Selection) =>
    // The identity determines the type of the objects. An informer outlives the caller that happens to be the first, so it runs in the registry's
    // context: it has no annotations, span or services of that caller, and retains none.
    Effect.updateContext(
      RcMap.get(references, new InformerKey(resource, selection)) as Effect.Effect<SharedInformer<A>>,
      (caller: Context.Context<Scope.Scope>) => Context.add(context, Scope.Scope, Context.get(caller, Scope.Scope))
    )
  if (selected?.follows !== undefined) {
    const informer = yield* shared(Resource.metadataOnly(Namespace), selected.follows)
    informer.subscribers++
    yield* informer.onDeltas((deltas) => selected.change(deltas.flatMap(namespaceChange)))
    yield* Effect.forkScoped(Effect.andThen(Effect.ignore(informer.ready), Effect.sync(selected.namespaces.setKnown)))
  }
  return { informers, shared, metrics, selected }
})

/** The namespaces of a cache that does not have all of them. */
interface Selected {
  readonly namespaces: Namespaces.Namespaces
  readonly change: Namespaces.Namespaces["change"]
  /** The selection of the Namespaces that determine them; absent if they are a list. */
  readonly follows: Informer.Selection | undefined
  readonly hold: HeldNamespaces.HeldNamespaces["hold"] | undefined
}

const selectedOf = ({ namespaces: given = [], shards }: Options): Selected | undefined => {
  const isAll = "length" in given && given.length === 0
  if (isAll && shards === undefined) return undefined
  const namespaces = Namespaces.make()
  const { change = namespaces.change, hold } = shards === undefined ? {} : HeldNamespaces.make(namespaces, shards)
  if ("labels" in given)
    return { namespaces, change, hold, follows: { labelSelector: Selector.formatLabels(given.labels) } }
  if (isAll) return { namespaces, change, hold, follows: {} }
  change(given.map((namespace) => ({ namespace, isSelected: true })))
  namespaces.setKnown()
  return { namespaces, change, hold, follows: undefined }
}

/** A namespace that no longer matches the labels arrives as a deletion. */
const namespaceChange = (delta: Delta<KubeObject>): ReadonlyArray<Namespaces.NamespaceChange> =>
  delta._tag === "Updated" ? [] : [{ namespace: delta.object.metadata.name, isSelected: delta._tag === "Created" }]

const sourceOf = <A extends KubeObject>(
  client: KubeClient["Service"],
  resource: Resource.Resource<A>,
  selection: Informer.Selection,
  { interval, keepManagedFields }: ReturnType<typeof Kinds.of>
): Watch.ListWatch<A> => {
  const omitManagedFields = keepManagedFields !== true
  return {
    list: (request) => client.listPage(resource, { ...selection, ...request, omitManagedFields }),
    watch: (request) =>
      client.watch(resource, {
        ...selection,
        ...request,
        omitManagedFields,
        interval: Duration.toMillis(interval)
      })
  }
}

const watchOptions = (
  options: Options,
  resource: Resource.Any,
  { namespace }: Informer.Selection,
  prepare: Informer.Prepare
): Watch.Options<KubeObject> => ({
  streamingList: options.streamingList,
  idleTimeout: options.idleTimeout,
  pageSize: options.pageSize,
  transform: prepare,
  context: {
    verb: "watch",
    path: Resource.path(resource, { namespace }),
    resource: Resource.qualifiedName(resource),
    namespace
  }
})

/** An informer as the registry and the cache use it; subscribers see `Informer`. */
export interface SharedInformer<out A extends KubeObject> extends Informer.Informer<A> {
  readonly addIndex: Store.Store<A>["addIndex"]
  readonly gate: VersionWaits.Gate
  /** Like `synced`, but it fails when the informer stops before. */
  readonly ready: Effect.Effect<void, void>
  readonly statusUnsafe: () => ReadonlyArray<Informer.InformerStatus>
  /** Open subscriptions, counted by the cache. */
  subscribers: number
}

export interface InformerOptions<A extends KubeObject> extends Informer.WatchOptions<A> {
  readonly selection: Informer.Selection
  /** If present: one watch for each of these namespaces, instead of one for all. */
  readonly namespaces?: Namespaces.Namespaces | undefined
  /** Absent: never. */
  readonly resync?: Resync.Resync | undefined
  readonly outstanding: Outstanding
}

export const makeInformer = Effect.fnUntraced(function* <A extends KubeObject>(
  options: InformerOptions<A>
): Effect.fn.Return<SharedInformer<A>, never, Scope.Scope> {
  const { outstanding, resource, resync, selection } = options
  const ready = Deferred.makeUnsafe<void, void>()
  const waits: VersionWaits.Gate["waits"] = new Set()
  const source = yield* options.namespaces === undefined
    ? Informer.singleWatch(options, ready, waits)
    : perNamespaceWatch(options, options.namespaces, ready, waits)
  const { processor, gate, store } = source

  const changes = Stream.unwrap(
    Effect.gen(function* () {
      const buffer = Buffer.make<A>(outstanding)
      yield* Effect.addFinalizer(() => Effect.sync(buffer.closeUnsafe))
      yield* processor.onDeltas(buffer.offerUnsafe)
      return Stream.fromPull(Effect.succeed(buffer.pull))
    })
  )

  const statusOf = ({ namespace, ...watch }: Informer.WatchStatus): Informer.InformerStatus => ({
    resource: Resource.qualifiedName(resource),
    id: resource.id,
    selection: namespace === undefined ? selection : { ...selection, namespace },
    ...watch,
    bytesUnsafe: () =>
      estimate(namespace === undefined ? store.list() : store.byIndex(Store.namespaceIndex, namespace)),
    ...processor.state(),
    subscribers: self.subscribers
  })
  const statusUnsafe = (): ReadonlyArray<Informer.InformerStatus> => source.watches().map(statusOf)

  const self: SharedInformer<A> = {
    resource,
    selection,
    store,
    ready: Deferred.await(ready),
    synced: Deferred.await(ready).pipe(Effect.catch(() => Effect.interrupt)),
    changes,
    onDeltas: processor.onDeltas,
    addIndex: (name, of) => store.addIndex(name, of),
    gate,
    subscribers: 0,
    statusUnsafe,
    status: Effect.sync(statusUnsafe)
  }
  if (resync !== undefined) {
    yield* Effect.forkScoped(Effect.andThen(Effect.ignore(self.ready), Resync.run(resync, store, processor)))
  }
  return self
})

/** The most objects that `estimate` measures. */
export const sample = 128

/**
 * The size of all objects as JSON, to an order of magnitude, to find out what fills the memory. Of many objects only some are measured,
 * evenly spread, so that the estimate is cheap.
 */
export const estimate = (objects: ReadonlyArray<unknown>): number => {
  if (objects.length === 0) return 0
  const step = Math.max(1, objects.length / sample)
  let [measured, sum] = [0, 0]
  for (let at = 0; at < objects.length; at += step) {
    sum += lengthOf(objects[Math.floor(at)])
    measured++
  }
  return Math.round((sum / measured) * objects.length)
}

/** The API server accepts objects that are nested deeper than `JSON.stringify` has room for on the stack. */
const lengthOf = (object: unknown): number => {
  try {
    return JSON.stringify(object)?.length ?? 0
  } catch {
    return 0
  }
}
