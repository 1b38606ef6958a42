/**
 * Requests and responses of `KubeClient`, pure: a verb and its options become a `Request`, the body of a response becomes an object or
 * a list. Nothing is sent here. An object is checked only for the shape that every object has; unknown fields stay as they are.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import { identify } from "../streams/watch/decode.ts"
import type { Query, Request, Response } from "./Transport.ts"

/** Media types that ask for metadata alone; plain JSON last, for servers that cannot project. */
const partial = {
  object: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
}

/** The Accept header for a projection; `undefined` is plain JSON. A watch has the form `object`. */
export const accept = (
  projection: Resource.Any["projection"] | undefined,
  form: "object" | "list"
): string | undefined => (projection === "metadata" ? partial[form] : undefined)

/** What a write needs of its response. `projection`: that of the resource, which counts where the write says nothing. */
export const needed = (
  returns: Resource.Any["projection"] | "nothing" | undefined,
  projection?: Resource.Any["projection"]
): Pick<Request, "accept" | "ignoresBody"> =>
  returns === undefined || returns === "object"
    ? { accept: accept(returns ?? projection, "object") }
    : { accept: partial.object, ignoresBody: returns === "nothing" }

export const context = (
  verb: string,
  resource: Resource.AnyCreatable,
  target: Resource.Target = {}
): ApiError.Context => ({
  verb,
  path: Resource.path(resource, target),
  resource:
    target.subresource === undefined
      ? Resource.qualifiedName(resource)
      : `${Resource.qualifiedName(resource)}/${target.subresource}`,
  ...(resource.scope === "Namespaced" && target.namespace !== undefined ? { namespace: target.namespace } : {}),
  ...(target.name === undefined ? {} : { name: target.name })
})

/**
 * Fails, before anything is sent, for a target whose path would be another endpoint: with an empty name it would be that of the
 * collection, and a namespaced object without a namespace has none.
 */
export const named = (
  verb: string,
  resource: Resource.AnyCreatable,
  target: Resource.Target
): Effect.Effect<ApiError.Context, ApiError.ApiError> => {
  const described = context(verb, resource, target)
  if (target.name === "") return refuse(described, "the name of the object is empty")
  return resource.scope === "Namespaced" && (target.namespace === undefined || target.namespace === "")
    ? refuse(described, `${resource.kind} is namespaced: a namespace is required`)
    : Effect.succeed(described)
}

export const refuse = (context: ApiError.Context, detail: string): Effect.Effect<never, ApiError.ApiError> =>
  Effect.fail(new ApiError.ApiError({ context, reason: { _tag: "BadRequest" }, detail }))

/** A request whose path is that of its context. */
export const request = (
  method: Request["method"],
  context: ApiError.Context,
  rest: Omit<Request, "method" | "path" | "context"> = {}
): Request => ({ method, path: context.path, context, ...rest })

/** Query parameters of a selection. The continue token contains the version, so a server rejects a request with both. */
export const selection = (options: {
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
}): Query => {
  const first = options.continue === undefined || options.continue === ""
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: first ? options.resourceVersion : undefined,
    resourceVersionMatch: first ? options.resourceVersionMatch : undefined,
    limit: options.limit,
    continue: first ? undefined : options.continue
  }
}

/** The request of a watch. */
export const watch = (
  resource: Resource.Any,
  {
    interval,
    omitManagedFields,
    ...options
  }: Parameters<typeof selection>[0] & {
    readonly namespace?: string | undefined
    readonly allowWatchBookmarks?: boolean | undefined
    readonly timeoutSeconds?: number | undefined
    readonly sendInitialEvents?: boolean | undefined
    readonly omitManagedFields?: boolean | undefined
    readonly interval?: number | undefined
  }
): Request => {
  const query = {
    watch: true,
    ...selection(options),
    allowWatchBookmarks: options.allowWatchBookmarks,
    timeoutSeconds: options.timeoutSeconds,
    sendInitialEvents: options.sendInitialEvents
  }
  const described = context("watch", resource, { namespace: options.namespace })
  return request("GET", described, {
    query,
    accept: accept(resource.projection, "object"),
    omitManagedFields,
    interval
  })
}

/** Query parameters of a write. */
export const writeQuery = (
  options:
    | {
        readonly dryRun?: boolean | undefined
        readonly fieldManager?: string | undefined
        readonly fieldValidation?: string | undefined
        readonly force?: boolean | undefined
      }
    | undefined,
  fieldManager: string
): Query => ({
  dryRun: options?.dryRun === true ? "All" : undefined,
  fieldManager: options?.fieldManager ?? fieldManager,
  fieldValidation: options?.fieldValidation,
  force: options?.force
})

/** The object of a response, with apiVersion and kind. It writes to the body, which was parsed for this call alone. */
export const decodeObject = <A extends KubeObject>(
  resource: Resource.Creatable<A>,
  context: ApiError.Context,
  body: unknown
): Effect.Effect<A, ApiError.ApiError> => {
  if (!isObject(body) || !isObject(body["metadata"])) {
    return Effect.fail(ApiError.decode(context, `the answer is not a ${resource.kind}`))
  }
  identify(resource, body)
  return Effect.succeed(body as unknown as A)
}

/** The list of a response, every item with apiVersion and kind. Go encodes some empty lists as `items: null`. It writes to the body. */
export const decodeList = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  context: ApiError.Context,
  body: unknown
): Effect.Effect<KubeList<A>, ApiError.ApiError> => {
  if (!isObject(body) || !(Array.isArray(body["items"]) || body["items"] === null)) {
    return Effect.fail(ApiError.decode(context, `the answer is not a list of ${resource.kind}`))
  }
  const items: ReadonlyArray<unknown> = body["items"] ?? []
  for (const item of items) {
    if (!isObject(item) || !isObject(item["metadata"])) {
      return Effect.fail(ApiError.decode(context, `the list contains something that is not a ${resource.kind}`))
    }
    identify(resource, item)
  }
  body["items"] = items
  body["metadata"] ??= {}
  return Effect.succeed(body as unknown as KubeList<A>)
}

/** The fields that name the kind of an object. */
export const identity = (resource: Resource.AnyCreatable): { readonly apiVersion: string; readonly kind: string } => ({
  apiVersion: Resource.apiVersion(resource),
  kind: resource.kind
})

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Source: meta/v1 DeleteOptions. */
export const deleteOptions = (
  options: {
    readonly gracePeriodSeconds?: number | undefined
    readonly propagationPolicy?: string | undefined
    readonly preconditions?: object | undefined
    readonly dryRun?: boolean | undefined
  } = {}
): object => ({
  apiVersion: "v1",
  kind: "DeleteOptions",
  gracePeriodSeconds: options.gracePeriodSeconds,
  propagationPolicy: options.propagationPolicy,
  preconditions: options.preconditions,
  dryRun: options.dryRun === true ? ["All"] : undefined
})

/** The written object, as far as the request asks for it. */
export const returned = <A extends KubeObject>(
  resource: Resource.Creatable<A>,
  { context, ignoresBody }: Request,
  call: Effect.Effect<Response, ApiError.ApiError>
): Effect.Effect<never, ApiError.ApiError> => {
  const answer =
    ignoresBody === true
      ? Effect.asVoid(call)
      : Effect.flatMap(call, ({ body }) => decodeObject(resource, context, body))
  // `returns` is what both the request and the type follow from.
  return answer as Effect.Effect<never, ApiError.ApiError>
}
