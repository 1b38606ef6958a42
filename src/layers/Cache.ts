/**
 * The shared cache: one informer for each kind and selection, for all subscribers. The first subscription starts it; it stops some time
 * after the last one has ended. Reads come from memory, wait for the first sync, and fail for kinds without a subscription: a read
 * never starts a watch. Objects are shared, not copied, and readonly by type; `Cache.Frozen` also freezes them. The cache has no writes.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import * as Selector from "../kube/Selector.ts"
import type { Delta } from "../streams/store/Store.ts"
import * as Store from "../streams/store/Store.ts"
import type * as Informer from "./cache/Informer.ts"
import * as Kinds from "./cache/kinds.ts"
import * as Outstanding from "./cache/Buffer.ts"
import * as Registry from "./cache/Registry.ts"
import * as VersionWaits from "./cache/VersionWaits.ts"
import type { KubeClient } from "./KubeClient.ts"

/** Settings of the layer. */
export type Options = Registry.Options
export type { Informer, Listener } from "./cache/Informer.ts"
/** Which objects of a kind. */
export type Selection = Informer.Selection
/** The status of one watch of an informer. */
export type InformerStatus = Informer.InformerStatus
/** The last failure of an informer. */
export type InformerFailure = Informer.InformerFailure

/** A named index function. Source: client-go's cache.IndexFunc. */
export interface Index<in A> {
  /** For each kind and selection a name has one function: the first one declared. */
  readonly name: string
  /** The values under which an object is found. */
  readonly of: (object: A) => ReadonlyArray<string>
}

/** A read of objects that no subscription keeps in memory. The message says what to declare. */
export class NotCached extends Data.TaggedError("NotCached")<{
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  /** The kind without a subscription. */
  readonly kind: string
  /** The selection of the read. */
  readonly selection: Selection
  /** Set when the kind is cached, but this index of it was never declared. */
  readonly index?: string | undefined
}> {
  override get message(): string {
    const what = `${this.resource}${describe(this.selection)}`
    return this.index === undefined
      ? `${what} are not cached: declare read(${this.kind}) in the controller's access`
      : `${what} have no index ${JSON.stringify(this.index)} in the cache: declare it when subscribing to ${this.kind}`
  }
}

/** Settings of a subscription. */
export interface SubscribeOptions<in A> {
  /** Which objects. Default: all. */
  readonly selection?: Selection | undefined
  /** Indexes for lookups. */
  readonly indexes?: ReadonlyArray<Index<A>> | undefined
}

/** Which objects to list. */
export interface ListOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  /** The label selector. Default: any labels. */
  readonly labels?: Selector.LabelSelector | undefined
  /** The selection of the subscription. Default: all. */
  readonly selection?: Selection | undefined
}

type Read<A> = Effect.Effect<A, NotCached>

/** The shared cache: one informer for each kind and selection. Reads send no request; they wait for the first sync. */
export class Cache extends Context.Service<
  Cache,
  {
    /**
     * Keeps the informer running for as long as the scope is open; never waits for a sync. Indexes are added to the shared
     * informer, before or after it has synced.
     */
    readonly subscribe: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      options?: SubscribeOptions<A>
    ) => Effect.Effect<Informer.Informer<A>, never, Scope.Scope>
    /** Subscribes, and calls the listener synchronously for each chunk of changes: see `Informer.onDeltas`. */
    readonly onDeltas: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      selection: Selection | undefined,
      listener: Informer.Listener<A>
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Subscribes for as long as the stream runs: the present objects, then their changes. A slow consumer delays no other. */
    readonly changes: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      options?: SubscribeOptions<A>
    ) => Stream.Stream<Delta<A>>
    /** The object with that key; undefined when there is none. */
    readonly get: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      key: Key.Key,
      selection?: Selection
    ) => Read<A | undefined>
    /** The objects of a namespace, or of all namespaces, that match the labels. In no particular order. */
    readonly list: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      options?: ListOptions
    ) => Read<ReadonlyArray<A>>
    /** The objects for which the index function returns the value. */
    readonly byIndex: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      index: string,
      value: string,
      selection?: Selection
    ) => Read<ReadonlyArray<A>>
    /** Waits for the first sync; by then every listener has received every object. */
    readonly synced: (resource: Resource.Any, selection?: Selection) => Read<void>
    /**
     * Read-your-writes: calls `done` once, with true when every informer of the kind (of any projection) that may receive the write has
     * passed the version, and with false when the limit is over first or an informer stops. It does not wait; `done` may be called
     * before it returns. With `written`, the object that the write returned, it skips informers whose selectors do not match.
     */
    readonly onVersion: (
      resource: Resource.Any,
      key: Key.Key,
      resourceVersion: string,
      done: (reached: boolean) => void,
      limit: Duration.Input,
      written?: KubeObject
    ) => Read<void>
    /**
     * Where only the namespaces of held shards are cached (`shards` in the settings): caches those of this shard until the scope closes. It does not wait:
     * a namespace becomes visible in all kinds at once, when they have read it.
     */
    readonly holdShard: (shard: number) => Effect.Effect<void, never, Scope.Scope>
    /** Whether the namespace will be cached, and its objects are being read. */
    readonly isPendingUnsafe: (namespace: string) => boolean
    /** One entry for each watch of each running informer, including those without subscribers. */
    readonly status: Effect.Effect<ReadonlyArray<InformerStatus>>
    /** The running informers, with their stores, for those who look at the program; a read of a store is not awaited. */
    readonly informers: Effect.Effect<ReadonlyArray<Informer.Informer<KubeObject>>>
    /** The number of deltas that subscribers of `changes` have not processed. */
    readonly outstanding: Effect.Effect<number>
    /** Waits until there are none. For tests. */
    readonly settled: Effect.Effect<void>
  }
>()("effect-controller-manager/Cache") {
  /** Freezes every object, deeply, before it can be read. For tests; it costs a walk over each object. */
  static readonly Frozen = Context.Reference<boolean>("effect-controller-manager/Cache/Frozen", {
    defaultValue: () => false
  })

  /** The settings of one kind for {@link Options}, with the type of its objects. */
  static readonly kind = Kinds.kind

  /** The cache, with selectors, transforms and resyncs for all kinds and for single kinds. */
  static readonly layer = (options: Options = {}): Layer.Layer<Cache, never, KubeClient> =>
    Layer.effect(Cache, make(options))
}

const make = Effect.fnUntraced(function* (options: Options) {
  const outstanding = Outstanding.makeOutstanding()
  const waits = yield* VersionWaits.make
  const { informers, metrics, selected, shared } = yield* Registry.make(options, outstanding, yield* Cache.Frozen)

  const subscribe = <A extends KubeObject>(resource: Resource.Resource<A>, given: SubscribeOptions<A> = {}) =>
    Effect.gen(function* () {
      const informer = yield* shared(resource, Kinds.selection(options, resource, given.selection))
      yield* Effect.acquireRelease(
        Effect.sync(() => informer.subscribers++),
        () => Effect.sync(() => informer.subscribers--)
      )
      for (const index of given.indexes ?? []) informer.addIndex(index.name, index.of)
      return informer
    })

  /** An informer with subscribers. The id determines the type of the objects, hence the assertion. */
  const find = <A extends KubeObject>(resource: Resource.Resource<A>, selection: Selection) => {
    const informer = informers.get(Registry.identity(resource, selection))
    return informer === undefined || informer.subscribers === 0 ? undefined : (informer as Registry.SharedInformer<A>)
  }

  /** Reads the store once it has synced. */
  const read = <A extends KubeObject, B>(
    resource: Resource.Resource<A>,
    given: Selection | undefined,
    index: string | undefined,
    f: (store: Store.Readable<A>) => B
  ): Read<B> =>
    Effect.suspend(() => {
      const selection = Kinds.selection(options, resource, given)
      const informer = find(resource, selection)
      if (informer === undefined) return Effect.fail(notCached(resource, selection))
      const { store } = informer
      if (index !== undefined && !store.hasIndex(index)) return Effect.fail(notCached(resource, selection, index))
      if (store.synced) return Effect.succeed(f(store))
      return Effect.mapBoth(informer.ready, {
        onSuccess: () => f(store),
        onFailure: () => notCached(resource, selection)
      })
    })

  return Cache.of({
    subscribe,
    onDeltas: (resource, selection, listener) =>
      Effect.flatMap(subscribe(resource, { selection }), (informer) => informer.onDeltas(listener)),
    changes: (resource, given) => Stream.unwrap(Effect.map(subscribe(resource, given), (informer) => informer.changes)),
    get: (resource, key, selection) => read(resource, selection, undefined, (store) => store.get(key)),
    list: (resource, given = {}) =>
      read(resource, given.selection, undefined, (store) => listed(resource, store, given)),
    byIndex: (resource, index, value, selection) =>
      read(resource, selection, index, (store) => store.byIndex(index, value)),
    synced: (resource, selection) => read(resource, selection, undefined, () => undefined),
    onVersion: (resource, key, version, done, limit, written) =>
      Effect.suspend(() => {
        const ofKind = Array.from(informers.values()).filter(
          (informer) => informer.subscribers > 0 && isOfKind(informer, resource)
        )
        if (ofKind.length === 0) return Effect.fail(notCached(resource, {}))
        if (options.readYourWrites === false) return Effect.sync(() => done(true))
        const gates = ofKind.filter((informer) => mayReceive(informer, key, written)).map((informer) => informer.gate)
        return waits.add(gates, key, version, Duration.toMillis(limit), metrics.waiting(done))
      }),
    holdShard: (shard) => {
      const hold = selected?.hold
      if (hold === undefined) return Effect.void
      return Effect.acquireRelease(
        Effect.sync(() => hold(shard)),
        (release) => Effect.sync(release)
      )
    },
    isPendingUnsafe: (namespace) => selected?.namespaces.isPending(namespace) === true,
    status: Effect.sync(() => Array.from(informers.values()).flatMap((informer) => informer.statusUnsafe())),
    informers: Effect.sync(() => Array.from(informers.values())),
    outstanding: Effect.sync(outstanding.count),
    settled: outstanding.settled
  })
})

const describe = ({ namespace, labelSelector, fieldSelector }: Selection): string => {
  const parts = [
    namespace === undefined ? undefined : `in namespace ${JSON.stringify(namespace)}`,
    labelSelector === undefined ? undefined : `with labels ${JSON.stringify(labelSelector)}`,
    fieldSelector === undefined ? undefined : `with fields ${JSON.stringify(fieldSelector)}`
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? "" : ` ${parts.join(" ")}`
}

const notCached = (resource: Resource.Any, selection: Selection, index?: string): NotCached =>
  new NotCached({ resource: Resource.qualifiedName(resource), kind: resource.kind, selection, index })

/** Whether the informer has objects of that kind, in any projection. */
const isOfKind = (informer: Informer.Informer<KubeObject>, { group, plural, version }: Resource.Any): boolean =>
  informer.resource.group === group && informer.resource.plural === plural && informer.resource.version === version

/**
 * Whether the informer may receive an event for a write to that key. It receives none for an object that its selector matches neither
 * before nor after the write, and a wait would last until the limit. For an object that no longer matches it receives a deletion. True
 * if that is not known.
 */
const mayReceive = (
  { selection, store }: Informer.Informer<KubeObject>,
  key: Key.Key,
  written: KubeObject | undefined
): boolean => {
  if (selection.namespace !== undefined && selection.namespace !== Key.parse(key).namespace) return false
  if (written === undefined || !store.synced || store.get(key) !== undefined) return true
  const labels = Selector.parseLabels(selection.labelSelector ?? "")
  if (Result.isSuccess(labels) && !Selector.matchesLabels(labels.success, written.metadata.labels)) return false
  const fields = Selector.parseFields(selection.fieldSelector ?? "")
  return Result.isFailure(fields) || fields.success.every((term) => mayHold(term, written))
}

/** A field that is missing may be one that the server computes, or reads as its default. */
const mayHold = ({ equal, field, value }: Selector.FieldTerm, object: KubeObject): boolean => {
  const found = field
    .split(".")
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], object)
  return typeof found === "string" ? (found === value) === equal : true
}

const listed = <A extends KubeObject>(
  resource: Resource.Any,
  store: Store.Readable<A>,
  { labels, namespace }: ListOptions
): ReadonlyArray<A> => {
  const everywhere = namespace === undefined || namespace === "" || resource.scope === "Cluster"
  const objects = everywhere ? store.list() : store.byIndex(Store.namespaceIndex, namespace)
  if (labels === undefined || labels.length === 0) return objects
  return objects.filter((object) => Selector.matchesLabels(labels, object.metadata.labels))
}
