/**
 * Who may read the console: on loopback whoever has the token of the printed address, elsewhere whom the API server authenticates and lets `get` the
 * non-resource URL `/console`.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Handler, HttpResponse } from "../../layers/http/handler.ts"
import type { Failure } from "./protocol.ts"

/** Lets authorized requests through to the handler, and answers the others itself. */
export type Access = (handle: Handler) => Handler

/** What a role for readers of the console names. */
export const path = "/console"

/** For the page, which shows the message. */
export const failure = (status: number, message: string): HttpResponse => ({
  status,
  body: JSON.stringify({ message } satisfies Failure),
  contentType: "application/json"
})

const unauthorized: HttpResponse = {
  ...failure(401, "the token is missing or is not valid"),
  headers: { "www-authenticate": "Bearer" }
}

/** `isToken` takes the same time for each text of one length. */
export const byToken =
  (isToken: (text: string) => boolean): Access =>
  (handle) =>
  (request) =>
    request.bearer !== undefined && isToken(Redacted.value(request.bearer))
      ? handle(request)
      : Effect.succeed(unauthorized)

/** `guard`: the one of the metrics. One permission is asked for, whatever the path. */
export const byReview =
  (guard: Access): Access =>
  (handle) =>
  (request) =>
    Effect.map(guard(() => handle(request))({ ...request, method: "GET", path }), (response) =>
      response.status < 400 || response.contentType !== undefined
        ? response
        : { ...response, ...failure(response.status, reasons[response.status] ?? "the request failed") }
    )

/** The guard's answers are texts for collectors of metrics. */
const reasons: Readonly<Record<number, string>> = {
  401: "the token is missing, or the API server does not accept it",
  403: `the API server does not let the user of this token get ${path}`,
  429: "too many tokens are being reviewed: try again in a second",
  500: "the API server could not be asked about the token"
}
