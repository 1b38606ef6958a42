/**
 * Pages for operators: a path, and the response for each method. Requests have been authorized. Lists are truncated, so that no page grows with the
 * cluster. Pure.
 */
import * as Effect from "effect/Effect"
import { type HttpResponse, type HttpRequest, type Handler, notAllowed } from "../../layers/http/handler.ts"
import { excerpt } from "../../kube/printable.ts"
import { clean } from "../logs/secrets.ts"

/** The methods of a page; GET includes HEAD. */
export type Method = "GET" | "PUT"

export interface Page {
  readonly method: Method
  readonly answer: (request: HttpRequest) => Effect.Effect<HttpResponse>
}

/** Finds what is at a path; undefined when there is nothing. */
export type Pages = (path: string) => Effect.Effect<Page | undefined>

/** Serves the page at the path; without one, the other handler serves the request. */
export const before =
  (pages: Pages, otherwise: Handler): Handler =>
  (request) =>
    Effect.flatMap(pages(request.path), (page) => {
      if (page === undefined) return otherwise(request)
      const methods = page.method === "GET" ? ["GET", "HEAD"] : [page.method]
      return methods.includes(request.method) ? page.answer(request) : Effect.succeed(notAllowed(methods.join(", ")))
    })

/** Rejects other methods than GET and HEAD for these paths. */
export const readOnly =
  (paths: ReadonlyArray<string>, handle: Handler): Handler =>
  (request) =>
    paths.includes(request.path) && request.method !== "GET" && request.method !== "HEAD"
      ? Effect.succeed(notAllowed("GET, HEAD"))
      : handle(request)

/** The first items, and how many were omitted if any. */
export const cut = <A>(
  all: ReadonlyArray<A>,
  limit: number
): { readonly items: ReadonlyArray<A>; readonly omitted?: number } =>
  all.length <= limit ? { items: all } : { items: all.slice(0, limit), omitted: all.length - limit }

/** Milliseconds as seconds with three digits; null where there is no such time. */
export const seconds = (millis: number | undefined): number | null =>
  millis === undefined || !Number.isFinite(millis) ? null : Math.round(millis) / 1000

/** Wall clock, milliseconds. */
export const instant = (at: number): string => new Date(at).toISOString()

const longest = 2000

/** The text of an error on one line, truncated, and without credentials and quoted objects. */
export const oneLine = (text: string): string => clean(excerpt(text, longest))
