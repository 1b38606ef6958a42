/** Lists in several requests, and deletions of collections in several requests. The pages of a deletion are chosen purely. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../kube/ApiError.ts"
import type { KubeList, KubeObject, ListMeta } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"

interface Paged {
  readonly limit?: number | undefined
  /** The continue token of the page before. */
  readonly continue?: string | undefined
}

/** One request. */
type ListPage<O> = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  options: O
) => Effect.Effect<KubeList<A>, ApiError.ApiError>

/** Page size of `list` and `deleteCollection`. Source: client-go pager. */
export const pageSize = 500

/** All pages, of 500 objects or `limit`. An expired token restarts the list once. */
export const allPages = Effect.fnUntraced(function* <A extends KubeObject, O extends Paged>(
  listPage: ListPage<O>,
  resource: Resource.Resource<A>,
  given: O
) {
  const options = { ...given, limit: given.limit ?? pageSize }
  for (let restarted = false; ; restarted = true) {
    const first = yield* listPage(resource, options)
    const rest = yield* Effect.result(followPages(listPage, resource, options, first))
    if (Result.isSuccess(rest)) {
      return { ...first, metadata: withoutContinue(first.metadata), items: rest.success }
    }
    const again = !restarted && given.continue === undefined && ApiError.hasReason(rest.failure, "Gone")
    if (!again) return yield* rest.failure
  }
})

const followPages = Effect.fnUntraced(function* <A extends KubeObject, O extends Paged>(
  listPage: ListPage<O>,
  resource: Resource.Resource<A>,
  options: O,
  first: KubeList<A>
) {
  let next = first.metadata.continue
  if (next === undefined || next === "") return first.items
  const items = [...first.items]
  while (next !== undefined && next !== "") {
    const page: KubeList<A> = yield* listPage(resource, { ...options, continue: next })
    for (const item of page.items) items.push(item)
    next = page.metadata.continue
  }
  return items
})

const withoutContinue = (metadata: ListMeta): ListMeta =>
  metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }

/**
 * Which page of a collection is deleted next: an API server ends a call after a minute, which is too short for a large collection.
 * What was deleted of a page that failed stays deleted.
 */
export interface Page {
  /** The most objects in it. */
  readonly limit: number
  /** Token of the page before; undefined for the first page. */
  readonly continue: string | undefined
  /** True once an expired token has made it begin with the first page again. */
  readonly restarted: boolean
}

/** By this factor pages become smaller after one that took the server too long. */
const shrink = 10

export const firstPage = (limit: number, token: string | undefined): Page => ({
  limit,
  continue: token,
  restarted: false
})

/** Undefined when there is no next page: after the last one, or after a failure. */
export const nextPage = (place: Page, done: Result.Result<ListMeta, ApiError.ApiError>): Page | undefined => {
  if (Result.isFailure(done)) return pageAfter(place, done.failure)
  const token = done.success.continue
  return token === undefined || token === "" ? undefined : { ...place, continue: token }
}

/** Pages become smaller only after a timeout that the server reports: a server that does not respond would not respond to a smaller one either. */
const pageAfter = (place: Page, error: ApiError.ApiError): Page | undefined => {
  if (ApiError.hasReason(error, "Timeout") && error.status !== undefined && place.limit > 1) {
    return { ...place, limit: Math.ceil(place.limit / shrink) }
  }
  if (!ApiError.hasReason(error, "Gone") || place.continue === undefined) return undefined
  if (error.continue !== undefined) return { ...place, continue: error.continue }
  return place.restarted ? undefined : { ...place, continue: undefined, restarted: true }
}
