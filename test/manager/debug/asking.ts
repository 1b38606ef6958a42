/** Requests pages without a server. */
import * as Effect from "effect/Effect"
import { type HttpResponse, type Handler, notFound, text } from "../../../src/layers/http/handler.ts"
import * as Page from "../../../src/manager/debug/page.ts"
import * as Pages from "../../../src/manager/debug/pages.ts"

export interface Question {
  readonly method?: string
  readonly body?: string | undefined
}

const ask = (handle: Handler, path: string, { body = "", method = "GET" }: Question): Effect.Effect<HttpResponse> => {
  const [before = "", after = ""] = path.split("?")
  return handle({
    method,
    path: before,
    query: new URLSearchParams(after),
    bearer: undefined,
    body: Effect.succeed(body === "too long" ? text(413, "the body is too long\n") : body)
  })
}

/** Status and text. */
export const asked = (handle: Handler, path: string, question: Question = {}) =>
  Effect.map(ask(handle, path, question), ({ body, headers, status }) => ({
    status,
    text: typeof body === "string" ? body : "",
    allow: headers?.["allow"]
  }))

export const pagesOf = (options: Partial<Pages.Options> = {}) =>
  Effect.map(Pages.make({ effective: [], controllers: [], disabled: [], ...options }), (pages) =>
    Page.before(pages, () => Effect.succeed(notFound))
  )

/** The parsed content of a page in JSON. */
export const read = (handle: Handler, path: string) =>
  Effect.map(asked(handle, path), ({ status, text }): unknown => (status === 200 ? JSON.parse(text) : status))
