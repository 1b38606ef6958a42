/**
 * The interface of the embedded API server to its transports: HTTPS on loopback, or the in-process transport of tests. A request is
 * method, path, query, headers and body text; a response is text, or a stream of watch lines. Bodies are text so that the server and its
 * clients never share an object.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/** The user of a request, as the transport has authenticated it. */
export interface User {
  /** `system:serviceaccount:default:web`. */
  readonly name: string
  /** `system:authenticated` and all other groups of the user. */
  readonly groups: ReadonlyArray<string>
  /** Distinguishes users that had the same name at different times. */
  readonly uid?: string | undefined
  /** Further attributes that authentication has provided. */
  readonly extra?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
}

/** A request that a transport has read. */
export interface ApiRequest {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** Path as on the request line, still escaped, without query. */
  readonly path: string
  /** The query parameters. */
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Its size is bounded by the transport; empty without a body. */
  readonly body: string
  /** The user that sent the request. */
  readonly user: User
  /** The client ignores `metadata.managedFields` in the objects of a watch; they may be left out. */
  readonly omitManagedFields?: boolean | undefined
  /** The transport has serialised the body from an object: no member occurs twice. */
  readonly isOwnBody?: boolean | undefined
}

/** A response: complete, or a stream. */
export type ApiResponse = Answer | TextAnswer | WatchAnswer

/** A complete response. */
export interface Answer {
  readonly _tag: "Answer"
  /** Of HTTP. */
  readonly status: number
  /** `application/json` mostly. */
  readonly contentType: string
  /** Text. */
  readonly body: string
  /** The body where it is binary; `body` is empty then. Only the HTTPS server makes such responses. */
  readonly bytes?: Uint8Array
  /** Further headers, names in lower case: `retry-after`, `warning`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer to a watch. */
export interface WatchAnswer {
  readonly _tag: "Watch"
  /** `application/json`; a line each. */
  readonly contentType: string
  /**
   * JSON lines without their newline, chunked as they became available. Ends when the watch times out; never fails: a failure is a line
   * of type ERROR followed by the end.
   */
  readonly lines: Stream.Stream<string>
}

/** A text of any length, such as a log. */
export interface TextAnswer {
  readonly _tag: "Text"
  /** `text/plain`. */
  readonly contentType: string
  /** Produced as it is read. Never fails. */
  readonly text: Stream.Stream<string>
}

/** Handles every request; a failure is a response too, with a `Status` object. */
export interface Api {
  /** The user of a bearer token, for transports that do not know it themselves; undefined for an invalid token. */
  readonly authenticate: (token: string) => Effect.Effect<User | undefined>
  /** Handles a request. Total: every failure is a response. */
  readonly handle: (request: ApiRequest) => Effect.Effect<ApiResponse>
}
