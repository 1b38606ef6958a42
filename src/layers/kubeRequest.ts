/**
 * The wire half of `KubeClient`, pure: a verb and its options become a `Request`, an answer's body becomes an object or a
 * list. Nothing is sent here and no object is validated beyond the shape every object has; unknown fields are left alone.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../kube/ApiError.ts"
import type { KubeList, KubeObject, ListMeta } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import type { Query, Request } from "./Transport.ts"

/** Media types that ask for metadata alone; plain JSON last, for servers that cannot project. */
const partial = {
  object: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
}

/** The Accept header of a resource's answers; `undefined` is plain JSON. A watch sends single objects. */
export const accept = (resource: Resource.Any, form: "object" | "list"): string | undefined =>
  resource.projection === "metadata" ? partial[form] : undefined

export const context = (verb: string, resource: Resource.Any, target: Resource.Target = {}): ApiError.Context => ({
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
 * Refuses, before anything is sent, a target that would name another endpoint than meant: an empty name is the collection,
 * a namespaced object without a namespace is nothing a server knows.
 */
export const named = (
  verb: string,
  resource: Resource.Any,
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

/** Query parameters of a selection; the continue token fixes the version, so a server refuses both together. */
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

/** An object as answered, with apiVersion and kind filled in. Mutates: the body was parsed for this call alone. */
export const decodeObject = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  context: ApiError.Context,
  body: unknown
): Effect.Effect<A, ApiError.ApiError> =>
  isObject(body) && isObject(body["metadata"])
    ? Effect.succeed(identify(resource, body) as unknown as A)
    : Effect.fail(ApiError.decode(context, `the answer is not a ${resource.kind}`))

/** A list as answered, every item with apiVersion and kind. `items: null` is Go's way of writing an empty list. Mutates. */
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

/** Metadata projections carry the name of the real kind, not `PartialObjectMetadata`: it is that kind, seen in part. Mutates. */
export const identify = (resource: Resource.Any, object: Record<string, unknown>): Record<string, unknown> => {
  if (resource.projection === "metadata") {
    if (object["kind"] === undefined || object["kind"] === "PartialObjectMetadata") {
      object["kind"] = resource.kind
      object["apiVersion"] = Resource.apiVersion(resource)
    }
  } else if (object["kind"] === undefined || object["kind"] === "") {
    object["kind"] = resource.kind
    object["apiVersion"] = Resource.apiVersion(resource)
  }
  return object
}

/** The two fields that say what an object is. */
export const identity = (resource: Resource.Any): { readonly apiVersion: string; readonly kind: string } => ({
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

/**
 * Which page of a collection is deleted next: an API server ends a call after a minute, and a large collection in one call would never
 * be gone. What was deleted of a page that failed stays deleted.
 */
export interface Page {
  /** Objects in it. */
  readonly limit: number
  /** Token of the page before; none is the beginning. */
  readonly continue: string | undefined
  /** An expired token has brought it back to the beginning. */
  readonly restarted: boolean
}

/** So many times smaller is the next page where one took the server too long. */
const shrink = 10

export const firstPage = (limit: number, token: string | undefined): Page => ({
  limit,
  continue: token,
  restarted: false
})

/** Undefined where it ends: with the page, or with its failure. */
export const nextPage = (place: Page, done: Result.Result<ListMeta, ApiError.ApiError>): Page | undefined => {
  if (Result.isFailure(done)) return pageAfter(place, done.failure)
  const token = done.success.continue
  return token === undefined || token === "" ? undefined : { ...place, continue: token }
}

/** Only the server's word that its time is over makes pages smaller: one that does not answer would not answer then either. */
const pageAfter = (place: Page, error: ApiError.ApiError): Page | undefined => {
  if (ApiError.hasReason(error, "Timeout") && error.status !== undefined && place.limit > 1) {
    return { ...place, limit: Math.ceil(place.limit / shrink) }
  }
  if (!ApiError.hasReason(error, "Gone") || place.continue === undefined) return undefined
  if (error.continue !== undefined) return { ...place, continue: error.continue }
  return place.restarted ? undefined : { ...place, continue: undefined, restarted: true }
}
