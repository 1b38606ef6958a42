/**
 * Requests and responses of the manager's small servers. A request nearly always has no body; a response is one text or, where it
 * may be long, a stream. Pure; `platform/listener/Listener.ts` turns them into HTTP.
 */
import * as Effect from "effect/Effect"
import { printable } from "../../kube/printable.ts"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"

export interface HttpRequest {
  /** One of the methods that the server allows. */
  readonly method: string
  /** Decoded, without query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The token of the Authorization header, if its scheme is Bearer. */
  readonly bearer: Redacted.Redacted | undefined
  /** The Content-Type header, as it was sent. */
  readonly contentType?: string | undefined
  /** Reads the body, once. An `HttpResponse` is the response to send when the body is too long, or did not arrive in time. */
  readonly body: Effect.Effect<string | HttpResponse>
}

export interface HttpResponse {
  readonly status: number
  /** A stream has no content length; it is pulled as fast as the client reads. */
  readonly body: string | Stream.Stream<Uint8Array, unknown>
  /** Default: `text/plain; charset=utf-8`. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Handler = (request: HttpRequest) => Effect.Effect<HttpResponse>

export const text = (status: number, body: string): HttpResponse => ({ status, body })

/** Indented, and printable on terminals. */
export const json = (value: unknown): HttpResponse => ({
  status: 200,
  body: `${printable(JSON.stringify(value, undefined, 2))}\n`,
  contentType: "application/json"
})

/** The path exists, for other methods: those in `allow`. */
export const notAllowed = (allow: string): HttpResponse => ({
  ...text(405, "Method Not Allowed\n"),
  headers: { allow }
})

/** The body of requests that are made in this process. */
export const noBody: HttpRequest["body"] = Effect.succeed("")

export const notFound: HttpResponse = text(404, "404 page not found\n")
