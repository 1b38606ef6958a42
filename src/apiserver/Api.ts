/**
 * The seam between the embedded API server and whatever carries its calls: HTTP on loopback, or nothing at all in tests.
 * A call goes in as method, path, query, headers and text; an answer comes out as text or as a stream of watch lines.
 * Text, because it is what makes a server and its clients strangers: no object is ever shared between them.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/** Who is calling, as the carrier has established it. */
export interface User {
  /** `system:serviceaccount:default:web`. */
  readonly name: string
  /** `system:authenticated` and what else they are in. */
  readonly groups: ReadonlyArray<string>
  /** Tells apart users that had the same name at different times. */
  readonly uid?: string | undefined
  /** Whatever else the carrier knows of them. */
  readonly extra?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
}

/** A request, after whoever carries it has read it. */
export interface ApiRequest {
  /** Of HTTP, in upper case. */
  readonly method: string
  /** Path as on the request line, still escaped, without query. */
  readonly path: string
  /** What follows the path. */
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Already bounded in size by the carrier; empty when there is none. */
  readonly body: string
  /** Whose request it is. */
  readonly user: User
  /** The caller has no use for `metadata.managedFields` in a watch's objects; they may be left out. */
  readonly omitManagedFields?: boolean | undefined
  /** The carrier has written the body itself, from an object: no member is in it twice. */
  readonly isOwnBody?: boolean | undefined
}

/** An answer, whole or as a stream. */
export type ApiResponse = Answer | WatchAnswer

/** A whole answer. */
export interface Answer {
  readonly _tag: "Answer"
  /** Of HTTP. */
  readonly status: number
  /** `application/json` mostly. */
  readonly contentType: string
  /** Text. */
  readonly body: string
  /** The body where it is no text; `body` is empty then. Only the HTTP front makes such answers. */
  readonly bytes?: Uint8Array
  /** Further headers, names in lower case: `retry-after`, `warning`. */
  readonly headers?: Readonly<Record<string, string>>
  /** For the server itself: the same request may be answered otherwise in a moment. */
  readonly isTemporary?: boolean
}

/** The answer to a watch. */
export interface WatchAnswer {
  readonly _tag: "Watch"
  /** `application/json`; a line each. */
  readonly contentType: string
  /**
   * JSON lines without their newline, chunked as they became available. Ends when the watch's time is up; never fails:
   * a failure is a line of type ERROR followed by the end.
   */
  readonly lines: Stream.Stream<string>
}

/** Answers every call; failures are answers too, as `Status` objects. */
export interface Api {
  /** Whose bearer token this is, for carriers that do not know it themselves; undefined when it is nobody's. */
  readonly authenticate: (token: string) => Effect.Effect<User | undefined>
  /** Answers a request. Total: every failure is an answer. */
  readonly handle: (request: ApiRequest) => Effect.Effect<ApiResponse>
}
