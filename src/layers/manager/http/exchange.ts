/**
 * What the manager's small servers speak of: a request without a body, an answer that is one text. Pure; `Listener.ts` turns it
 * into HTTP.
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

export interface Asked {
  /** GET or HEAD: everything else was refused before. */
  readonly method: string
  /** Decoded, without query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Of the Authorization header, if it is of that kind. */
  readonly bearer: Redacted.Redacted | undefined
}

export interface Answer {
  readonly status: number
  readonly body: string
  /** `text/plain; charset=utf-8` unless said otherwise. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Handler = (asked: Asked) => Effect.Effect<Answer>

export const text = (status: number, body: string): Answer => ({ status, body })

export const notFound: Answer = text(404, "404 page not found\n")
