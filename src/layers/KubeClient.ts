/**
 * The typed client: every verb of the Kubernetes API over one `Transport`. It adds what a transport leaves out: a deadline for
 * each call, retries of calls that are idempotent, paging, and apiVersion and kind on every object. Objects are the plain JSON
 * that the server sent. The client caches nothing, and it does not restart a watch that ends: informers do both.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import type * as ApiError from "../kube/ApiError.ts"
import type { Draft, KubeList, KubeObject, ListMeta } from "../kube/Meta.ts"
import * as Patch from "../kube/Patch.ts"
import * as Resource from "../kube/Resource.ts"
import * as Status from "../kube/Status.ts"
import * as Trace from "../streams/reconcile/trace.ts"
import { identifyEvents } from "../streams/watch/decode.ts"
import * as CallPolicy from "./callPolicy.ts"
import * as Wire from "./kubeRequest.ts"
import * as Paging from "./paging.ts"
import { Timeline } from "./Timeline.ts"
import { type Request, type Response, Transport, type WatchEvent } from "./Transport.ts"

/** Names one object, or a subresource of it. */
export interface Target {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined
  /** Of the object. */
  readonly name: string
  /** `status`, `scale`, … */
  readonly subresource?: string | undefined
}

/** How long a call may take. */
export interface CallOptions {
  /**
   * Deadline of the call, all its attempts included. Of each page, for a paged list. Without one an attempt has 70 s, longer than
   * servers take for a call, and none begins more than 30 s after the first.
   */
  readonly timeout?: Duration.Input | undefined
  /** The most retries after a failure. Default: those of the policy. */
  readonly retries?: number | undefined
}

/** How an object is read. */
export interface GetOptions extends CallOptions {
  /** `0`: any version that the server has in its watch cache. Default: the latest. */
  readonly resourceVersion?: string | undefined
}

/** Which objects of a kind. */
export interface RequestSelection {
  /** All namespaces when absent. */
  readonly namespace?: string | undefined
  /** The query form, `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined
  /** The query form, `spec.nodeName=a`. */
  readonly fieldSelector?: string | undefined
  /** `0`: any version that the server has in its watch cache. Default: the latest. */
  readonly resourceVersion?: string | undefined
  /** Whether the server must use exactly that version, or may use a newer one. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined
  /** True: objects may arrive without `metadata.managedFields`, which are a third of the bytes and of the parsing. */
  readonly omitManagedFields?: boolean | undefined
}

/** Which objects are listed, and how. */
export interface ListOptions extends CallOptions, RequestSelection {
  /** Objects in one page. */
  readonly limit?: number | undefined
  /** The continue token of the page before. */
  readonly continue?: string | undefined
}

/** What is watched, and how. */
export interface WatchOptions extends RequestSelection {
  /** Asks for bookmarks. */
  readonly allowWatchBookmarks?: boolean | undefined
  /** After how long the server ends the watch. */
  readonly timeoutSeconds?: number | undefined
  /** Requests a streaming list: the watch begins with all present objects. */
  readonly sendInitialEvents?: boolean | undefined
  /** The least time between two deliveries while events follow each other closely, in milliseconds. Default: events are delivered as they arrive. */
  readonly interval?: number | undefined
}

/** How an object is written. */
export interface WriteOptions extends CallOptions {
  /** Admission and validation run, and nothing is stored. */
  readonly dryRun?: boolean | undefined
  /** Default: that of the layer. */
  readonly fieldManager?: string | undefined
  /** What the server does with unknown fields: drop them, drop them with a warning, or reject the write. Default: that of the server, `Warn`. */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined
  /** `status`, `scale`, `eviction`, … */
  readonly subresource?: string | undefined
}

/** Which part of a written object its caller needs. */
export type Part = Resource.Any["projection"]

/** What a write returns. */
export type Returned<P extends Part | "nothing", A extends KubeObject> = P extends "nothing"
  ? void
  : P extends "metadata"
    ? KubeObject
    : A

/** The option of a write that determines what it returns. */
export interface Returning<P extends Part | "nothing"> {
  /** `metadata`: the rest is neither sent nor parsed. `nothing`: the response is not parsed. Default: the object. */
  readonly returns?: P | undefined
}

/** How an object is patched. */
export interface PatchOptions extends WriteOptions {
  /** Server-side apply only: take over fields that other managers own. */
  readonly force?: boolean | undefined
}

/** How an object is deleted. */
export interface DeleteOptions extends CallOptions {
  /** Nothing is deleted. */
  readonly dryRun?: boolean | undefined
  /** How long a pod may take to terminate; 0 deletes it at once. Default: that of the object. */
  readonly gracePeriodSeconds?: number | undefined
  /** Whether dependents stay, are deleted afterwards, or are deleted first. Default: that of the kind. */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined
  /** Fails with `Conflict` unless the object has this uid and this version. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined
}

/** What a deletion returns. */
export type Left<P extends "object" | "nothing"> = P extends "nothing" ? void : KubeObject | Status.Status

/** How a collection is deleted. */
export interface DeleteCollectionOptions extends DeleteOptions {
  /** Run after each page but the last, with the list metadata: `remainingItemCount`, where the server counts. */
  readonly onPage?: ((meta: ListMeta) => Effect.Effect<void>) | undefined
}

/** Settings of the layer. */
export interface Options {
  /** The field manager of writes, as `managedFields` records it. */
  readonly fieldManager?: string | undefined
  /** Deadline of a call that has none. Default: none, and the policy's bounds apply. */
  readonly timeout?: Duration.Input | undefined
  /** Which failures are retried, and after how long. */
  readonly policy?: CallPolicy.Policy | undefined
}

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** Wraps a request with all its attempts; it may send another request in its place. */
type Around = (request: Request, send: (request: Request) => Call<Response>) => Call<Response>

/** The calls. Every failure is an `ApiError`. */
export interface Client {
  /** One object, as it is on the server. */
  readonly get: <A extends KubeObject>(resource: Resource.Resource<A>, target: Target, options?: GetOptions) => Call<A>
  /**
   * The whole result: it reads all pages of 500 (or `limit`) objects, in the version of the first page. A continue token that
   * expires in between restarts the list once; a second time the call fails with `Gone`.
   */
  readonly list: <A extends KubeObject>(resource: Resource.Resource<A>, options?: ListOptions) => Call<KubeList<A>>
  /** Exactly one request; the caller requests the next page. */
  readonly listPage: <A extends KubeObject>(resource: Resource.Resource<A>, options?: ListOptions) => Call<KubeList<A>>
  /** One watch: it ends when the server ends it, fails when the connection fails, and is not restarted. No deadline. */
  readonly watch: <A extends KubeObject>(
    resource: Resource.Resource<A>,
    options: WatchOptions
  ) => Stream.Stream<WatchEvent, ApiError.ApiError>
  /** Retried after 429 only: when a response is lost, the object may have been created. The namespace may come from the object. */
  readonly create: <A extends KubeObject, P extends Part | "nothing" = "object">(
    resource: Resource.Creatable<A>,
    object: Draft<A>,
    options?: WriteOptions & Returning<P> & { readonly namespace?: string | undefined }
  ) => Call<Returned<P, A>>
  /** PUT. With a resource version in the object it fails with `Conflict` when another writer has changed the object since. */
  readonly update: <A extends KubeObject, P extends Part | "nothing" = "object">(
    resource: Resource.Resource<A>,
    object: A,
    options?: WriteOptions & Returning<P>
  ) => Call<Returned<P, A>>
  /** Changes an object on the server. Only server-side apply is retried after a lost response, because it is idempotent. */
  readonly patch: <A extends KubeObject, P extends Part | "nothing" = "object">(
    resource: Resource.Resource<A>,
    target: Target,
    patch: Patch.Patch,
    options?: PatchOptions & Returning<P>
  ) => Call<Returned<P, A>>
  /**
   * The object while finalizers or a grace period keep it, a `Status` when it is gone; with `returns: "nothing"` the response is not parsed. A retry after a
   * lost response may fail with NotFound.
   */
  readonly delete: <P extends "object" | "nothing" = "object">(
    resource: Resource.Any,
    target: Target,
    options?: DeleteOptions & { readonly returns?: P | undefined }
  ) => Call<Left<P>>
  /**
   * Deletes the selected objects in pages of 500 (or `limit`), and in smaller ones where the server times out before a page is done,
   * so that a collection of any size is deleted in the end.
   */
  readonly deleteCollection: (
    resource: Resource.Any,
    selection: ListOptions,
    options?: DeleteCollectionOptions
  ) => Call<void>
  /** Any request, by default under the default deadline; only a GET is retried. */
  readonly raw: (request: Request, options?: CallOptions) => Call<Response>
  /**
   * The same client with a wrapped transport, which then sees every attempt of every call, and with a wrapper around each
   * request, which sees all attempts and the waits between them as one call.
   */
  readonly through: (between: (transport: Transport["Service"]) => Transport["Service"], around?: Around) => Client
}

/**
 * The verbs of the API, typed by resource. It allows every call; the client of a controller allows only what its `access` declares.
 *
 * @example
 * ```ts
 * const list = Effect.flatMap(KubeClient, (client) => client.list(Namespace))
 * const { items } = await Effect.runPromise(Effect.provide(list, ClusterTest.layer()))
 * assert.ok(items.some(({ metadata }) => metadata.name === "default"))
 * ```
 */
export class KubeClient extends Context.Service<KubeClient, Client>()("effect-controller-manager/KubeClient") {
  /** With settings. */
  static readonly layerWith = (options: Options): Layer.Layer<KubeClient, never, Transport> =>
    Layer.effect(
      KubeClient,
      Effect.gen(function* () {
        const isTraced = yield* Trace.isOn
        const timeline = yield* Timeline
        const around: Around = (one, send) => {
          const call = isTraced ? CallPolicy.traced(one, send(one)) : send(one)
          return timeline === undefined ? call : timeline.write(one, call)
        }
        return KubeClient.of(make(yield* Transport, options, around))
      })
    )

  /** With the defaults. */
  static readonly layer: Layer.Layer<KubeClient, never, Transport> = KubeClient.layerWith({})
}

const make = (transport: Transport["Service"], settings: Options, around: Around): KubeClient["Service"] => {
  const policy = settings.policy ?? CallPolicy.standard
  const fieldManager = settings.fieldManager ?? "effect-controller-manager"
  const call = (request: Request, repeat: CallPolicy.Repeat, options: CallOptions | undefined): Call<Response> =>
    around(request, (one) =>
      CallPolicy.run(transport.send, one, {
        repeat,
        policy: options?.retries === undefined ? policy : { ...policy, retries: options.retries },
        endsCalls: transport.endsCalls,
        pace: transport.pace,
        limit: limitOf(options?.timeout ?? settings.timeout)
      })
    )
  const listPage = listPageWith(call)
  return {
    get: (resource, target, options) =>
      Effect.flatMap(Wire.named("get", resource, target), (context) => {
        const query = { resourceVersion: options?.resourceVersion }
        const request = Wire.request("GET", context, { query, accept: Wire.accept(resource.projection, "object") })
        return decoded(resource, context, call(request, "repeatable", options))
      }),
    listPage,
    list: (resource, options = {}) => Paging.allPages(listPage, resource, options),
    watch: (resource, options) => watchWith(transport, resource, options),
    raw: (request, options) => call(request, request.method === "GET" ? "repeatable" : "once", options),
    through: (between, outer = (request, send) => send(request)) =>
      make(between(transport), settings, (request, send) => outer(request, (one) => around(one, send))),
    ...writes(call, fieldManager),
    ...deletes(call)
  }
}

const limitOf = (timeout: Duration.Input | undefined): Duration.Duration | undefined =>
  timeout === undefined ? undefined : Duration.fromInputUnsafe(timeout)

const decoded = <A extends KubeObject>(
  resource: Resource.Creatable<A>,
  context: ApiError.Context,
  call: Call<Response>
): Call<A> => Effect.flatMap(call, ({ body }) => Wire.decodeObject(resource, context, body))

type SendCall = (request: Request, repeat: CallPolicy.Repeat, options: CallOptions | undefined) => Call<Response>

const listPageWith = (call: SendCall): KubeClient["Service"]["listPage"] =>
  Effect.fnUntraced(function* (resource, options = {}) {
    const context = Wire.context("list", resource, { namespace: options.namespace })
    const request = Wire.request("GET", context, {
      query: Wire.selection(options),
      accept: Wire.accept(resource.projection, "list"),
      omitManagedFields: options.omitManagedFields
    })
    return yield* Wire.decodeList(resource, context, (yield* call(request, "repeatable", options)).body)
  })

const watchWith = (
  transport: Transport["Service"],
  resource: Resource.Any,
  options: WatchOptions
): Stream.Stream<WatchEvent, ApiError.ApiError> =>
  identifyEvents(resource, transport.watch(Wire.watch(resource, options)))

// Plain functions, not generators: a create is most of what a manager sends.
const writes = (call: SendCall, fieldManager: string): Pick<KubeClient["Service"], "create" | "update" | "patch"> => ({
  create: (resource, object, options) => {
    const namespace = options?.namespace ?? object.metadata.namespace
    const subresource = options?.subresource
    // A collection has no name in its path, but the same checks apply; a subresource has the name of its object in the path.
    const target = { namespace, name: object.metadata.name, subresource }
    return Effect.flatMap(Wire.named("create", resource, target), (context) => {
      if (resource.projection === "metadata") return Wire.refuse(context, "metadata alone cannot be created")
      const path = Resource.path(resource, subresource === undefined ? { namespace } : target)
      const body = subresource === undefined ? { ...Wire.identity(resource), ...object } : object
      const query = Wire.writeQuery(options, fieldManager)
      const needed = Wire.needed(options?.returns)
      const request: Request = { method: "POST", path, query, ...needed, body, context: { ...context, path } }
      return Wire.returned(resource, request, call(request, "once", options))
    })
  },
  update: (resource, object, options) => {
    const { name, namespace, resourceVersion } = object.metadata
    const target = { namespace, name, subresource: options?.subresource }
    return Effect.flatMap(Wire.named("update", resource, target), (context) => {
      if (resource.projection === "metadata") return Wire.refuse(context, "metadata alone cannot be updated")
      const body = options?.subresource === undefined ? { ...Wire.identity(resource), ...object } : object
      const query = Wire.writeQuery(options, fieldManager)
      const request = Wire.request("PUT", context, { query, ...Wire.needed(options?.returns), body })
      const repeat = resourceVersion === undefined ? "once" : "repeatable"
      return Wire.returned(resource, request, call(request, repeat, options))
    })
  },
  patch: (resource, target, patch, options) => {
    const subresource = target.subresource ?? options?.subresource
    return Effect.flatMap(Wire.named("patch", resource, { ...target, subresource }), (context) => {
      const request = Wire.request("PATCH", context, {
        query: Wire.writeQuery(options, fieldManager),
        ...Wire.needed(options?.returns, resource.projection),
        body: patch.body,
        contentType: Patch.contentType[patch.type]
      })
      return Wire.returned(resource, request, call(request, patch.type === "apply" ? "repeatable" : "once", options))
    })
  }
})

const deletes = (call: SendCall): Pick<KubeClient["Service"], "delete" | "deleteCollection"> => {
  const page = deletePageWith(call)
  return {
    delete: (resource, target, options) =>
      Effect.flatMap(Wire.named("delete", resource, target), (context) => {
        const accept = Wire.accept(resource.projection, "object")
        const ignoresBody = options?.returns === "nothing"
        const request = Wire.request("DELETE", context, { accept, body: Wire.deleteOptions(options), ignoresBody })
        const left = Effect.flatMap(call(request, "repeatable", options), ({ body }): Call<Left<"object"> | void> =>
          ignoresBody
            ? Effect.void
            : Status.is(body)
              ? Effect.succeed(body)
              : Wire.decodeObject(resource, context, body)
        )
        // `ignoresBody` is what the type follows from.
        return left as Call<never>
      }),
    deleteCollection: Effect.fnUntraced(function* (resource, selection, options = {}) {
      const { onPage = () => Effect.void } = options
      let place = Paging.firstPage(selection.limit ?? Paging.pageSize, selection.continue)
      while (true) {
        const done = yield* Effect.result(page(resource, { ...selection, ...place }, options))
        const next = Paging.nextPage(place, done)
        if (next === undefined) return yield* Effect.asVoid(Effect.fromResult(done))
        if (Result.isSuccess(done)) yield* onPage(done.success)
        place = next
      }
    })
  }
}

const deletePageWith = (call: SendCall) =>
  Effect.fnUntraced(function* (resource: Resource.Any, selection: ListOptions, options: DeleteOptions) {
    const context = Wire.context("deletecollection", resource, { namespace: selection.namespace })
    const request = Wire.request("DELETE", context, {
      query: Wire.selection(selection),
      accept: Wire.accept(resource.projection, "list"),
      body: Wire.deleteOptions(options)
    })
    const { body } = yield* call(request, "repeatable", { ...selection, ...options })
    // A list of what was deleted; a server without pages may return a `Status` instead.
    const metadata = Wire.isObject(body) ? body["metadata"] : undefined
    return Wire.isObject(metadata) ? metadata : {}
  })
