/**
 * The only way to an API server. `send` makes one call and returns parsed JSON; `watch` opens a stream of decoded events. A transport
 * classifies failures and stops when it is interrupted. Retries, deadlines, paging and types are added above it, by `KubeClient`
 * and the informers.
 *
 * Two layers implement it: HTTP (`HttpTransport`) and in process (`apiserver/`). One conformance suite runs on both.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ApiError from "../kube/ApiError.ts"

/** The HTTP method of a call. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Query parameters in order; an array value repeats the parameter; `undefined` leaves it out. */
export type Query = Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>

/** One call to the server, as it is sent. */
export interface Request {
  /** The HTTP method. */
  readonly method: Method
  /** Absolute path, already escaped, without query. */
  readonly path: string
  /** Query parameters. */
  readonly query?: Query | undefined
  /** Media types that the caller accepts. Default: JSON. */
  readonly accept?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Media type of the body. Default: `application/json`. */
  readonly contentType?: string | undefined
  /** The caller needs nothing of a success but its status; a transport may leave the body unparsed. */
  readonly ignoresBody?: boolean | undefined
  /** The caller does not need `metadata.managedFields` in the objects of a watch or list; a transport may leave them out unparsed. */
  readonly omitManagedFields?: boolean | undefined
  /**
   * The least time between two deliveries of a watch while events follow each other closely, in milliseconds: what arrives in between may be delivered
   * together. A transport without connections ignores it. Default: no limit.
   */
  readonly interval?: number | undefined
  /**
   * Called just before the first byte of each attempt is sent, after any wait in a queue. False: nothing is sent, and the call fails
   * with `LeaderFenced`. Cheap and synchronous. See docs/design/leadership.md.
   */
  readonly mayStartUnsafe?: (() => boolean) | undefined
  /** The call fails with `Timeout` if the response is not complete after this time. Only for transports with `endsCalls`. */
  readonly limit?: Duration.Duration | undefined
  /**
   * Registers a function that ends the call with an error before its response, and returns how to take it back; it may be called at once. Only
   * transports with `endsCalls` use it.
   */
  readonly endUnsafe?: ((end: (error: ApiError.ApiError) => void) => () => void) | undefined
  /** Which part of the program sends it, for the server's audit log. Default: that of the transport. */
  readonly userAgent?: string | undefined
  /** What the call means, for errors, logs and metrics. */
  readonly context: ApiError.Context
}

/** A response with a status that means success; others are failures of the call. */
export interface Response {
  /** 200 to 299; any other status is an `ApiError`. */
  readonly status: number
  /** Parsed JSON; text where the response is not JSON (`/version` is JSON, `/readyz` is text). */
  readonly body: unknown
  /** Texts of the Warning headers, unquoted. */
  readonly warnings: ReadonlyArray<string>
}

/** One event of a watch. An ERROR event is not among them: it ends the stream with an `ApiError`. */
export interface WatchEvent {
  /** What happened. A bookmark only reports the version that the watch has reached. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  /** The object after the change; for DELETED its last state, for BOOKMARK an object with little more than a resource version. */
  readonly object: unknown
}

/** Requests and watches, over HTTPS or to the embedded server in this process. */
export class Transport extends Context.Service<
  Transport,
  {
    /** One request and its response. No retries, and no deadline. */
    readonly send: (request: Request) => Effect.Effect<Response, ApiError.ApiError>
    /**
     * Whether `send` itself ends a call by `limit` and `endUnsafe` of the request, which costs less than a race of fibers for each call. Otherwise the
     * caller interrupts the call.
     */
    readonly endsCalls?: boolean | undefined
    /** A rate limit: a caller that limits the time of a call awaits it before each `send`, outside that time. Absent: no limit. */
    readonly pace?: ((request: Request) => Effect.Effect<void>) | undefined
    /**
     * Events in the server's order, in chunks as they arrived: consume them with array operators, not with an effect for each event.
     * Ends when the server closes the watch. Ending or interrupting it closes the connection's stream at once. The transport sets no
     * idle timeout; the consumer does.
     */
    readonly watch: (request: Request) => Stream.Stream<WatchEvent, ApiError.ApiError>
  }
>()("effect-controller-manager/Transport") {
  /** Fails every call; for tests of code that must not call a server. */
  static readonly layerNoop = Layer.succeed(
    Transport,
    Transport.of({
      send: (request) => Effect.fail(ApiError.network(request.context, new Error("no transport"))),
      watch: (request) => Stream.fail(ApiError.network(request.context, new Error("no transport")))
    })
  )
}
