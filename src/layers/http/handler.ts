/**
 * What the manager's small servers speak of: a request, nearly always without a body, and an answer that is one text or, where it
 * may be long, a stream. Pure; `Listener.ts` turns it into HTTP.
 */
import * as Effect from "effect/Effect"
import { printable } from "../../kube/printable.ts"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"

export interface HttpRequest {
  /** One that the server takes at all: everything else was refused before. */
  readonly method: string
  /** Decoded, without query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Of the Authorization header, if it is of that kind. */
  readonly bearer: Redacted.Redacted | undefined
  /** What the body is said to be, as it was written. */
  readonly contentType?: string | undefined
  /** Read when it is asked for, once; the answer to give where it is too long, or did not arrive in time. */
  readonly body: Effect.Effect<string | HttpResponse>
}

export interface HttpResponse {
  readonly status: number
  /** Of a stream no length is told; it is pulled as fast as the asker reads. */
  readonly body: string | Stream.Stream<Uint8Array, unknown>
  /** `text/plain; charset=utf-8` unless said otherwise. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Handler = (request: HttpRequest) => Effect.Effect<HttpResponse>

export const text = (status: number, body: string): HttpResponse => ({ status, body })

/** Indented: people read it, on terminals too. */
export const json = (value: unknown): HttpResponse => ({
  status: 200,
  body: `${printable(JSON.stringify(value, undefined, 2))}\n`,
  contentType: "application/json"
})

/** The path is there, for these methods. */
export const notAllowed = (allow: string): HttpResponse => ({
  ...text(405, "Method Not Allowed\n"),
  headers: { allow }
})

/** Of requests that are made, not received. */
export const noBody: HttpRequest["body"] = Effect.succeed("")

export const notFound: HttpResponse = text(404, "404 page not found\n")
