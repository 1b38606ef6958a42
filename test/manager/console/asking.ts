/** Requests the console without a server. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type Handler, type HttpResponse, noBody } from "../../../src/layers/http/handler.ts"
import * as Access from "../../../src/manager/console/access.ts"
import * as Console from "../../../src/manager/console/handler.ts"
import type * as Protocol from "../../../src/manager/console/protocol.ts"

export const token = "the-token"

export const program: Protocol.Program = {
  name: "test",
  version: "1",
  server: "https://127.0.0.1:1",
  isEmbedded: true,
  startedAt: 0
}

const files = new Map([
  ["index.html", { body: "<!doctype html>", contentType: "text/html; charset=utf-8" }],
  ["app-abc.js", { body: "1", contentType: "text/javascript; charset=utf-8" }]
])

export const make = (over: Partial<Console.Options> = {}) =>
  Console.make({
    program,
    files,
    access: Access.byToken((text) => text === token),
    cluster: undefined,
    timeline: undefined,
    closing: Deferred.await(Deferred.makeUnsafe<void>()),
    controllers: [],
    disabled: [],
    ...over
  })

export const ask = (
  handle: Handler,
  target: string,
  { bearer = token, method = "GET" }: { readonly bearer?: string | null; readonly method?: string } = {}
): Effect.Effect<HttpResponse> => {
  const [path = "", query = ""] = target.split("?")
  return handle({
    method,
    path,
    query: new URLSearchParams(query),
    bearer: bearer === null ? undefined : Redacted.make(bearer),
    body: noBody
  })
}

/** The body, parsed. */
export const json = (response: HttpResponse): unknown =>
  JSON.parse(typeof response.body === "string" ? response.body : "null")

const decoder = new TextDecoder()

/** Reads a response's stream part by part, for as long as the scope is open: each part as its lines, without the empty ones. */
export const reader = ({ body }: HttpResponse) =>
  Effect.map(Stream.toPull(typeof body === "string" ? Stream.empty : body), (pull) =>
    Effect.map(pull, (parts) =>
      parts.flatMap((part) =>
        decoder
          .decode(part)
          .split("\n")
          .filter((line) => line !== "")
          .map((line): Protocol.Message => JSON.parse(line))
      )
    )
  )
