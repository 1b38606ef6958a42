/**
 * What a controller works with: a client, the cache and an event sink, restricted by type to what its `access` declares. A call that was not
 * declared does not compile. At run time these are the shared services, except that writes are recorded, so that the next run of the
 * same key waits until the cache contains them.
 */
import * as Effect from "effect/Effect"
import type * as Access from "../../kube/Access.ts"
import type * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type { Draft, KubeList, KubeObject } from "../../kube/Meta.ts"
import type * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import type * as Selector from "../../kube/Selector.ts"
import type * as Status from "../../kube/Status.ts"
import type { CausedQueue } from "./causedQueue.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { Cache, Informer } from "../Cache.ts"
import type * as KubeClient from "../KubeClient.ts"
import type { EventSink } from "../Recorder.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>
type MainWrite = Omit<KubeClient.WriteOptions, "subresource">
type MainTarget = Omit<KubeClient.Target, "subresource">

/** The server, restricted to the grants in `A`. Every failure is an `ApiError`. */
export interface Client<in A> {
  /** One object, as it is on the server. Prefer the cache. */
  readonly get: <R extends Access.KindsWith<"Access.get(…) in access", A, "get">>(
    resource: R,
    target: MainTarget,
    options?: KubeClient.GetOptions
  ) => Call<Resource.Object<R>>
  /** All objects of a selection, as they are on the server. Prefer the cache. */
  readonly list: <R extends Access.KindsWith<"Access.list(…) in access", A, "list">>(
    resource: R,
    options?: KubeClient.ListOptions
  ) => Call<KubeList<Resource.Object<R>>>
  /** Creates an object. Fails with `AlreadyExists` where there is one of that name. */
  readonly create: <
    R extends Access.KindsWith<"Access.create(…) in access", A, "create">,
    P extends KubeClient.Part = "object"
  >(
    resource: R,
    object: DraftOf<R>,
    options?: MainWrite & KubeClient.Returning<P> & { readonly namespace?: string | undefined }
  ) => Call<KubeClient.Returned<P, Resource.Object<R>>>
  /** Replaces an object. With a resource version in it, it fails with `Conflict` when another writer has changed the object since. */
  readonly update: <
    R extends Access.KindsWith<"Access.update(…) in access", A, "update">,
    P extends KubeClient.Part = "object"
  >(
    resource: R,
    object: Resource.Object<R>,
    options?: MainWrite & KubeClient.Returning<P>
  ) => Call<KubeClient.Returned<P, Resource.Object<R>>>
  /** Changes an object on the server, whatever its version. */
  readonly patch: <
    R extends Access.KindsWith<"Access.patch(…) in access", A, "patch">,
    P extends KubeClient.Part = "object"
  >(
    resource: R,
    target: MainTarget,
    patch: Patch.Patch,
    options?: Omit<KubeClient.PatchOptions, "subresource"> & KubeClient.Returning<P>
  ) => Call<KubeClient.Returned<P, Resource.Object<R>>>
  /** Deletes an object. Fails with `NotFound` where there is none. */
  readonly delete: <R extends Access.KindsWith<"Access.remove(…) in access", A, "delete">>(
    resource: R,
    target: MainTarget,
    options?: KubeClient.DeleteOptions
  ) => Call<KubeObject | Status.Status>
  /** Deletes the selected objects with one request. */
  readonly deleteCollection: <
    R extends Access.KindsWith<"Access.removeCollection(…) in access", A, "deletecollection">
  >(
    resource: R,
    selection: KubeClient.ListOptions,
    options?: KubeClient.DeleteOptions
  ) => Call<void>
  /** A subresource of an object: `client.subresource("status").patch(…)`. */
  readonly subresource: <
    S extends Access.Subresource<A> | (string & Access.Missing<"a grant of this subresource in access">)
  >(
    name: S
  ) => Subresource<A, S>
}

/** Writes to one subresource. */
export interface Subresource<in A, S extends string> {
  /** Creates it with a POST, for instance an `eviction`. */
  readonly create: <R extends Access.KindsWith<`Access.create(…, "${S}") in access`, A, "create", S>>(
    resource: R,
    target: MainTarget,
    object: object,
    options?: MainWrite
  ) => Call<KubeObject>
  /** Replaces it. */
  readonly update: <
    R extends Access.KindsWith<`Access.update(…, "${S}") in access`, A, "update", S>,
    P extends KubeClient.Part = "object"
  >(
    resource: R,
    object: Resource.Object<R>,
    options?: MainWrite & KubeClient.Returning<P>
  ) => Call<KubeClient.Returned<P, Resource.Object<R>>>
  /** Changes it. */
  readonly patch: <
    R extends Access.KindsWith<`Access.patch(…, "${S}") in access`, A, "patch", S>,
    P extends KubeClient.Part = "object"
  >(
    resource: R,
    target: MainTarget,
    patch: Patch.Patch,
    options?: Omit<KubeClient.PatchOptions, "subresource"> & KubeClient.Returning<P>
  ) => Call<KubeClient.Returned<P, Resource.Object<R>>>
}

type DraftOf<R> = R extends Resource.Creatable<infer A> ? Draft<A> : never

/** Reads without a request, restricted to the kinds with a `read` grant. They wait for the first sync and cannot fail. */
export interface Reader<in A> {
  /** The object with that key; undefined when there is none. */
  readonly get: <R extends Access.KindsWith<"Access.read(…) in access", A, "read">>(
    resource: R,
    key: Key.Key
  ) => Effect.Effect<Resource.Object<R> | undefined>
  /** The objects of a namespace, or of all namespaces, that match the labels. In no particular order. */
  readonly list: <R extends Access.KindsWith<"Access.read(…) in access", A, "read">>(
    resource: R,
    options?: { readonly namespace?: string | undefined; readonly labels?: Selector.LabelSelector | undefined }
  ) => Effect.Effect<ReadonlyArray<Resource.Object<R>>>
  /** Objects by an index that a source or the controller declared. */
  readonly byIndex: <R extends Access.KindsWith<"Access.read(…) in access", A, "read">>(
    resource: R,
    index: string,
    value: string
  ) => Effect.Effect<ReadonlyArray<Resource.Object<R>>>
}

/** The object to reconcile: its key, and the parts of the key, without the event that caused the run. */
export interface Request {
  /** The key of the object in the cache and the queue. */
  readonly key: Key.Key
  /** Absent for cluster-scoped kinds. */
  readonly namespace: string | undefined
  /** Of the object. */
  readonly name: string
}

/** What a controller works with. Each service allows only what `access` declares. */
export interface ReconcileContext<A> {
  /** For writes. */
  readonly client: Client<A>
  /** For reads. */
  readonly cache: Reader<A>
  /** For events, which users see with `kubectl describe`. */
  readonly events: Events<A>
}

/** Has no methods unless `Access.record` is declared. */
export type Events<A> = [Access.Granted<A, "record">] extends [never]
  ? Access.Missing<"Access.record in access">
  : EventSink

/** The context of a controller with state: that of its runs, and the store and queue for its synchronous triggers. */
export interface BodyContext<A> extends ReconcileContext<A> {
  /** The store of a kind, synchronously: empty until the first sync, never older than the delta that a trigger handles. */
  readonly store: <R extends Access.KindsWith<"Access.read(…) in access", A, "read">>(
    resource: R
  ) => Store.Readable<Resource.Object<R>>
  /** For keys to reconcile later; all other keys come from the sources. */
  readonly queue: Pick<KeyedQueue, "addUnsafe" | "addWithUnsafe">
  /** Around the handling of a change that comes from no source of the controller: keys added meanwhile have it as their cause. */
  readonly causes: Pick<CausedQueue, "begin" | "end">
}

/** Called with every object that a write returned, before the caller of the write goes on. */
export type OnWrite = (resource: Resource.Any, object: KubeObject) => Effect.Effect<void>

/**
 * The shared services with the restricted types. The cast is needed because `Client<A>` is `KubeClient` with fewer allowed calls, which
 * generic method types cannot express.
 */
export const make = <A>(
  services: {
    readonly client: KubeClient.KubeClient["Service"]
    readonly cache: Cache["Service"]
    readonly events: EventSink
    /** The default field manager of its applies: the controller. */
    readonly fieldManager: string
  },
  onWrite: OnWrite
): ReconcileContext<A> => ({
  client: clientOf(services, onWrite) as unknown as Client<A>,
  cache: readerOf(services.cache) as unknown as Reader<A>,
  events: services.events as Events<A>
})

/** The stores of these informers, by kind. The id determines the type of the objects, hence the assertion. */
export const stores = <A>(informers: ReadonlyArray<Informer<KubeObject>>): BodyContext<A>["store"] => {
  const byId = new Map(informers.map((informer) => [informer.resource.id, informer.store]))
  return (<R extends Resource.Any>(resource: R) => {
    const store = byId.get(resource.id)
    if (store === undefined) throw new Error(`${Resource.qualifiedName(resource)} are not among the controller's reads`)
    return store
  }) as BodyContext<A>["store"]
}

const clientOf = (
  { client, fieldManager }: { readonly client: KubeClient.KubeClient["Service"]; readonly fieldManager: string },
  onWrite: OnWrite
) => {
  const recorded = <A extends KubeObject>(resource: Resource.Resource<A>, write: Call<A>): Call<A> =>
    Effect.tap(write, (object) => onWrite(resource, object))
  const create = <A extends KubeObject>(
    resource: Resource.Resource<A>,
    object: Draft<A>,
    options?: KubeClient.WriteOptions & { readonly namespace?: string | undefined }
  ) => recorded(resource, client.create(resource, object, options))
  const update = <A extends KubeObject>(resource: Resource.Resource<A>, object: A, options?: KubeClient.WriteOptions) =>
    recorded(resource, client.update(resource, object, options))
  const patch = <A extends KubeObject>(
    resource: Resource.Resource<A>,
    target: KubeClient.Target,
    body: Patch.Patch,
    options?: KubeClient.PatchOptions
  ) => {
    const named = body.type === "apply" && options?.fieldManager === undefined ? { ...options, fieldManager } : options
    return recorded(resource, client.patch(resource, target, body, named))
  }
  return {
    get: client.get,
    list: client.list,
    create,
    update,
    patch,
    delete: (resource: Resource.Any, target: MainTarget, options?: KubeClient.DeleteOptions) =>
      Effect.tap(client.delete(resource, target, options), (left) =>
        "metadata" in left && left.kind !== "Status" ? onWrite(resource, left as KubeObject) : Effect.void
      ),
    deleteCollection: client.deleteCollection,
    subresource: (subresource: string) => ({
      create: (resource: Resource.Any, target: MainTarget, object: Draft<KubeObject>, options?: MainWrite) =>
        client.create(
          resource,
          { ...object, metadata: { ...object.metadata, name: target.name } },
          {
            ...options,
            namespace: target.namespace,
            subresource
          }
        ),
      update: (resource: Resource.Any, object: KubeObject, options?: MainWrite) =>
        update(resource, object, { ...options, subresource }),
      patch: (resource: Resource.Any, target: MainTarget, body: Patch.Patch, options?: KubeClient.PatchOptions) =>
        patch(resource, { ...target, subresource }, body, options)
    })
  }
}

/** A kind that is not cached here is a defect: the descriptor subscribed to every kind it may read. */
const readerOf = (cache: Cache["Service"]) => ({
  get: (resource: Resource.Any, key: Key.Key) => Effect.orDie(cache.get(resource, key)),
  list: (resource: Resource.Any, options?: { namespace?: string; labels?: Selector.LabelSelector }) =>
    Effect.orDie(cache.list(resource, options)),
  byIndex: (resource: Resource.Any, index: string, value: string) => Effect.orDie(cache.byIndex(resource, index, value))
})
