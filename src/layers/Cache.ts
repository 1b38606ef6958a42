/**
 * The shared cache: one informer for each kind and selection, however many subscribe. The first subscriber starts it, and it
 * stops when the last has gone and an idle time has passed. Reads are answered from memory, wait for the first sync, and
 * are refused for kinds that nobody subscribed to: a read never starts a watch. Objects are shared, never copied, and
 * readonly by type; with `Cache.Frozen` also in fact. Writes go to the server, not here.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import * as Selector from "../kube/Selector.ts"
import type { Delta } from "../streams/Delta.ts"
import * as Store from "../streams/Store.ts"
import { trim } from "../streams/trim.ts"
import type * as Watch from "../streams/watch.ts"
import * as Informer from "./cache/Informer.ts"
import * as Intern from "./cache/intern.ts"
import * as Outstanding from "./cache/Outstanding.ts"
import * as VersionWaits from "./cache/VersionWaits.ts"
import { KubeClient } from "./KubeClient.ts"

export type Selection = Informer.Selection
export type InformerStatus = Informer.InformerStatus
export type InformerFailure = Informer.InformerFailure

/** A named index function: under which values an object is found. */
export interface Index<in A> {
  /** One function a name for each kind and selection: the first that is declared stays. */
  readonly name: string
  readonly of: (object: A) => ReadonlyArray<string>
}

/** A read of something that no subscription keeps in memory. The message says what to declare. */
export class NotCached extends Data.TaggedError("NotCached")<{
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  readonly kind: string
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

export interface SubscribeOptions<in A> {
  readonly selection?: Selection | undefined
  readonly indexes?: ReadonlyArray<Index<A>> | undefined
}

export interface ListOptions {
  readonly namespace?: string | undefined
  readonly labels?: Selector.LabelSelector | undefined
  readonly selection?: Selection | undefined
}

/** Settings of the layer. */
export interface Options {
  /** How long an informer outlives its last subscriber. Default 30 s. */
  readonly idleTimeToLive?: Duration.Input | undefined
  /** Default false: `metadata.managedFields` is dropped before an object is stored. */
  readonly keepManagedFields?: boolean | undefined
  readonly streamingList?: "auto" | "never" | undefined
  readonly idleTimeout?: Duration.Input | undefined
  readonly pageSize?: number | undefined
}

type Read<A> = Effect.Effect<A, NotCached>

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
    /** Subscribes, and calls the listener synchronously for each chunk: see `Informer.onDeltas`. */
    readonly onDeltas: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      selection: Selection | undefined,
      listener: Informer.Listener<A>
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Subscribes for as long as the stream runs. Present objects first, then live; a slow consumer delays nobody. */
    readonly changes: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      options?: SubscribeOptions<A>
    ) => Stream.Stream<Delta<A>>
    readonly get: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      key: Key.Key,
      selection?: Selection
    ) => Read<A | undefined>
    readonly list: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      options?: ListOptions
    ) => Read<ReadonlyArray<A>>
    readonly byIndex: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      index: string,
      value: string,
      selection?: Selection
    ) => Read<ReadonlyArray<A>>
    /** Waits for the first sync; by then every listener has been told of every object. */
    readonly synced: (resource: Resource.Any, selection?: Selection) => Read<void>
    /**
     * Read-your-writes: runs `done` once, with true when every informer of the kind (of any projection) that will be told of
     * the write has passed the version, with false when the limit is over first or an informer stops. It returns at once;
     * `done` may run before that.
     */
    readonly onVersion: (
      resource: Resource.Any,
      key: Key.Key,
      resourceVersion: string,
      done: (reached: boolean) => void,
      limit: Duration.Input
    ) => Read<void>
    /** One entry for each informer that runs, those without subscribers included. */
    readonly status: Effect.Effect<ReadonlyArray<InformerStatus>>
    /** Deltas that subscribers of `changes` have not worked off. */
    readonly outstanding: Effect.Effect<number>
    /** Waits until there are none: how tests settle. */
    readonly settled: Effect.Effect<void>
  }
>()("effect-controller-manager/Cache") {
  /** Freezes every object, deeply, before anybody sees it. For tests; it costs a walk over each object. */
  static readonly Frozen = Context.Reference<boolean>("effect-controller-manager/Cache/Frozen", {
    defaultValue: () => false
  })

  static readonly layer = (options: Options = {}): Layer.Layer<Cache, never, KubeClient> =>
    Layer.effect(Cache, make(options))
}

const make = Effect.fnUntraced(function* (options: Options) {
  const outstanding = Outstanding.make()
  const waits = yield* VersionWaits.make
  const { informers, shared } = yield* registry(options, outstanding)

  const subscribe = <A extends KubeObject>(resource: Resource.Resource<A>, given: SubscribeOptions<A> = {}) =>
    Effect.gen(function* () {
      const informer = yield* shared(resource, normal(resource, given.selection))
      yield* Effect.acquireRelease(
        Effect.sync(() => informer.subscribers++),
        () => Effect.sync(() => informer.subscribers--)
      )
      for (const index of given.indexes ?? []) informer.addIndex(index.name, index.of)
      return informer
    })

  /** What is subscribed to; the id determines the type of the objects, hence the assertion. */
  const find = <A extends KubeObject>(resource: Resource.Resource<A>, selection: Selection) => {
    const informer = informers.get(identity(resource, selection))
    return informer === undefined || informer.subscribers === 0 ? undefined : (informer as Informer.Shared<A>)
  }

  /** Reads the store once it has synced. */
  const read = <A extends KubeObject, B>(
    resource: Resource.Resource<A>,
    given: Selection | undefined,
    index: string | undefined,
    f: (store: Store.Readable<A>) => B
  ): Read<B> =>
    Effect.suspend(() => {
      const selection = normal(resource, given)
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
    onVersion: (resource, key, version, done, limit) =>
      Effect.suspend(() => {
        const ofKind = Array.from(informers.values()).filter(
          (informer) => informer.subscribers > 0 && isOfKind(informer, resource)
        )
        if (ofKind.length === 0) return Effect.fail(notCached(resource, {}))
        const gates = ofKind.filter((informer) => covers(informer, key)).map((informer) => informer.gate)
        return waits.add(gates, key, version, Duration.toMillis(limit), done)
      }),
    status: Effect.suspend(() => Effect.forEach(Array.from(informers.values()), (informer) => informer.status)),
    outstanding: Effect.sync(outstanding.count),
    settled: outstanding.settled
  })
})

/** Informers by identity: `shared` takes a reference for the caller's scope, `informers` is what runs at this moment. */
const registry = Effect.fnUntraced(function* (options: Options, outstanding: Outstanding.Outstanding) {
  const client = yield* KubeClient
  const freeze = yield* Cache.Frozen
  const informers = new Map<string, Informer.Shared<KubeObject>>()
  /** What the identities mean, for as long as their informers run. */
  const meanings = new Map<string, { readonly resource: Resource.Any; readonly selection: Selection }>()

  const lookup = Effect.fnUntraced(function* (id: string) {
    const meaning = meanings.get(id)
    if (meaning === undefined) return yield* Effect.die(new Error(`no meaning for ${id}`))
    const { resource, selection } = meaning
    const source = sourceOf(client, resource, selection)
    const informer = yield* Informer.make({
      resource,
      selection,
      source,
      watch: watchOptions(options, resource, selection),
      freeze,
      outstanding
    })
    informers.set(id, informer)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // A successor may have been started already, while this one was closing.
        if (informers.get(id) === informer) informers.delete(id)
      })
    )
    return informer
  })

  const references = yield* RcMap.make({ lookup, idleTimeToLive: options.idleTimeToLive ?? "30 seconds" })
  const shared = <A extends KubeObject>(resource: Resource.Resource<A>, selection: Selection) =>
    Effect.suspend(() => {
      const id = identity(resource, selection)
      meanings.set(id, { resource, selection })
      // The id determines the type of the objects.
      return RcMap.get(references, id) as Effect.Effect<Informer.Shared<A>, never, Scope.Scope>
    })
  return { informers, shared }
})

const sourceOf = <A extends KubeObject>(
  client: KubeClient["Service"],
  resource: Resource.Resource<A>,
  selection: Selection
): Watch.Source<A> => ({
  list: (request) => client.listPage(resource, { ...selection, ...request }),
  watch: (request) => client.watch(resource, { ...selection, ...request })
})

const watchOptions = (
  options: Options,
  resource: Resource.Any,
  { namespace }: Selection
): Watch.Options<KubeObject> => ({
  streamingList: options.streamingList,
  idleTimeout: options.idleTimeout,
  pageSize: options.pageSize,
  transform: transform(options, resource),
  context: {
    verb: "watch",
    path: Resource.path(resource, { namespace }),
    resource: Resource.qualifiedName(resource),
    namespace
  }
})

const transform = (options: Options, resource: Resource.Any): ((object: KubeObject) => KubeObject) => {
  const trimmed = trim<KubeObject>({
    apiVersion: Resource.apiVersion(resource),
    kind: resource.kind,
    keepManagedFields: options.keepManagedFields
  })
  const shared = Intern.make()
  return (object) => shared(trimmed(object))
}

/** One spelling for each selection: absent instead of empty, and no namespace for kinds that have none. */
const normal = (resource: Resource.Any, given: Selection = {}): Selection => ({
  ...(given.namespace && resource.scope === "Namespaced" ? { namespace: given.namespace } : {}),
  ...(given.labelSelector ? { labelSelector: given.labelSelector } : {}),
  ...(given.fieldSelector ? { fieldSelector: given.fieldSelector } : {})
})

const identity = (resource: Resource.Any, { namespace, labelSelector, fieldSelector }: Selection): string =>
  JSON.stringify([resource.id, namespace, labelSelector, fieldSelector])

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

/** The same kind, whatever the projection. */
const isOfKind = (informer: Informer.Informer<KubeObject>, { group, plural, version }: Resource.Any): boolean =>
  informer.resource.group === group && informer.resource.plural === plural && informer.resource.version === version

/**
 * Whether a write to that key will be told by the informer. Of an object that a selector has left out nothing is told, and
 * waiting would take the whole limit; of one that leaves the selection, a deletion is.
 */
const covers = ({ selection, store }: Informer.Informer<KubeObject>, key: Key.Key): boolean => {
  if (selection.namespace !== undefined && selection.namespace !== Key.parse(key).namespace) return false
  const isFiltered = selection.labelSelector !== undefined || selection.fieldSelector !== undefined
  return !isFiltered || !store.synced || store.get(key) !== undefined
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
