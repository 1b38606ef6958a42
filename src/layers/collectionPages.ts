/**
 * How a collection is deleted page by page, pure: an API server ends a call after a minute, and a large collection in one call would never
 * be gone. Where it goes on, the server says, as for a list; what was deleted of a page that failed stays deleted.
 */
import * as Result from "effect/Result"
import * as ApiError from "../kube/ApiError.ts"
import type { ListMeta } from "../kube/Meta.ts"

/** Which page is next. */
export interface Place {
  /** Objects in it. */
  readonly limit: number
  /** Token of the page before; none is the beginning. */
  readonly continue: string | undefined
  /** An expired token has brought it back to the beginning. */
  readonly restarted: boolean
}

/** So many times smaller is the next page where one took the server too long. */
const shrink = 10

export const first = (limit: number, token: string | undefined): Place => ({ limit, continue: token, restarted: false })

/** Undefined where it ends: with the page, or with its failure. */
export const next = (place: Place, done: Result.Result<ListMeta, ApiError.ApiError>): Place | undefined => {
  if (Result.isFailure(done)) return around(place, done.failure)
  const token = done.success.continue
  return token === undefined || token === "" ? undefined : { ...place, continue: token }
}

/** Only the server's word that its time is over makes pages smaller: one that does not answer would not answer then either. */
const around = (place: Place, error: ApiError.ApiError): Place | undefined => {
  if (ApiError.hasReason(error, "Timeout") && error.status !== undefined && place.limit > 1) {
    return { ...place, limit: Math.ceil(place.limit / shrink) }
  }
  if (!ApiError.hasReason(error, "Gone") || place.continue === undefined) return undefined
  if (error.continue !== undefined) return { ...place, continue: error.continue }
  return place.restarted ? undefined : { ...place, continue: undefined, restarted: true }
}
