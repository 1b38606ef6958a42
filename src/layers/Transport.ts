/**
 * The single door to an API server. `send` makes one call and answers with parsed JSON; `watch` opens a stream of decoded
 * events. A transport is the small, raw half: it classifies failures and observes interruption, nothing more. Retries,
 * deadlines, paging and typing are added once above, by `KubeClient` and the informers.
 *
 * Two layers implement it: HTTP (`HttpTransport`) and in process (`apiserver/`). One conformance suite runs on both.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ApiError from "../kube/ApiError.ts"

/** Of HTTP. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Query parameters in order; an array value repeats the parameter; `undefined` leaves it out. */
export type Query = Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>

/** One call. */
export interface Request {
  /** Of HTTP. */
  readonly method: Method
  /** Absolute path, already escaped, without query. */
  readonly path: string
  /** Absent values are left out. */
  readonly query?: Query | undefined
  /** Media types the caller accepts; JSON unless said otherwise. */
  readonly accept?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Media type of the body; `application/json` unless said otherwise. */
  readonly contentType?: string | undefined
  /** The caller has no use for `metadata.managedFields` in a watch's objects; a transport may leave them out unparsed. */
  readonly omitManagedFields?: boolean | undefined
  /**
   * Asked each time the first byte is about to leave, after whatever queue there was: false means that nothing is sent and the
   * call fails with `LeaderFenced`. Cheap and synchronous. Source: architecture, "Fencing".
   */
  readonly mayStartUnsafe?: (() => boolean) | undefined
  /** Which part of the program asks, for the server's audit log; the transport's own name unless said otherwise. */
  readonly userAgent?: string | undefined
  /** What the call means, for errors, logs and metrics. */
  readonly context: ApiError.Context
}

/** An answer that is no error. */
export interface Response {
  /** 200 to 299; everything else is an `ApiError`. */
  readonly status: number
  /** Parsed JSON; text where the server did not answer with JSON (`/version` is JSON, `/readyz` is text). */
  readonly body: unknown
  /** Texts of the Warning headers, unquoted. */
  readonly warnings: ReadonlyArray<string>
}

/** One line of a watch. An ERROR event never gets this far: it ends the stream as an `ApiError`. */
export interface WatchEvent {
  /** What happened; a bookmark says only how far the server is. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  /** The object after the change; for DELETED its last state, for BOOKMARK little more than a resource version. */
  readonly object: unknown
}

/** Requests and watches, over HTTPS or to the embedded server in this process. */
export class Transport extends Context.Service<
  Transport,
  {
    /** One request and its answer. Repeats nothing, and has no deadline. */
    readonly send: (request: Request) => Effect.Effect<Response, ApiError.ApiError>
    /** Waited for before each `send` by whoever bounds the time of a call: none of that time is the server's. Absent: nothing is. */
    readonly pace?: ((request: Request) => Effect.Effect<void>) | undefined
    /**
     * Events in the server's order, chunked as they arrived: consume with array operators, never one effect an event.
     * Ends cleanly when the server closes the watch. Ending or interrupting it closes the connection's stream at once.
     * `undefined` bytes between events are no events: idle detection belongs to the consumer.
     */
    readonly watch: (request: Request) => Stream.Stream<WatchEvent, ApiError.ApiError>
  }
>()("effect-controller-manager/Transport") {
  /** Refuses every call; for tests of code that must not talk to a server. */
  static readonly layerNoop = Layer.succeed(
    Transport,
    Transport.of({
      send: (request) => Effect.fail(ApiError.network(request.context, new Error("no transport"))),
      watch: (request) => Stream.fail(ApiError.network(request.context, new Error("no transport")))
    })
  )
}
