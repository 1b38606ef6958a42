/**
 * The HTTPS server of the embedded API server: a `node:https` server on 127.0.0.1 that turns requests into calls of an `Api` and
 * responses into bytes. It uses Node directly because Node's own 4xx responses must be `Status` objects too. When a client disconnects,
 * its request or watch is interrupted at once; closing the scope ends watches cleanly, then waits for responses in flight, then closes
 * connections, all within a timeout.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { Answer, Api, ApiRequest, ApiResponse } from "../Api.ts"
import { type Connection, Connections } from "./Connections.ts"
import * as Identity from "./identity.ts"
import * as Incoming from "./incoming.ts"
import { withProtobuf } from "./bodies/openApiProtobuf.ts"
import * as Outgoing from "./outgoing.ts"
import * as StatusAnswer from "./statusAnswer.ts"

export const host = "127.0.0.1"

/** The server cannot listen; the message is one sentence for the user. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly port: number
  readonly message: string
}> {}

export interface Options {
  readonly api: Api
  /** PEM. */
  readonly certificate: string
  /** PEM. */
  readonly key: Redacted.Redacted
  /** Token of the administrator. */
  readonly token: Redacted.Redacted
  /** Further known tokens; the API authenticates service account tokens. */
  readonly tokens?: ReadonlyArray<Identity.KnownToken> | undefined
  /** PEM: authority of client certificates. Without it the server requests none. */
  readonly clientCa?: string | undefined
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** How long a shutdown waits for responses in flight; 3 s by default. */
  readonly drainLimit?: Duration.Input | undefined
  /** Milliseconds within which the headers of a request must arrive; 30,000 by default. */
  readonly headersTimeout?: number | undefined
}

export interface HttpsServer {
  readonly port: number
  /** Present counts: for status pages, and for tests that wait for them. */
  readonly stats: () => { readonly connections: number; readonly requests: number; readonly watches: number }
}

/** Listens until the scope closes. */
export const listen = Effect.fnUntraced(function* (options: Options) {
  const draining = Latch.makeUnsafe(false)
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const connections = new Connections()
  const known = [{ token: options.token, user: Identity.administrator }, ...(options.tokens ?? [])]
  const identify = Identity.make(options.api, Identity.byToken(known))
  let watches = 0
  let requests = 0
  const exchange = exchangeWith(withProtobuf(options.api), identify, draining, (change) => (watches += change))
  const server = makeServer(options)
  connections.attach(server)
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.of(request.socket)
    const fiber = fork(exchange(request, response, connection))
    requests++
    connection.add(fiber)
    fiber.addObserver(() => {
      requests--
      connection.remove(fiber)
    })
  })
  yield* Effect.addFinalizer(() => shutdown(server, connections, fibers, draining, options.drainLimit ?? "3 seconds"))
  const port = yield* bind(server, options.port ?? 0)
  const listener: HttpsServer = {
    port,
    stats: () => ({ connections: connections.size, requests, watches })
  }
  return listener
})

const makeServer = (options: Options): Server =>
  createServer({
    cert: options.certificate,
    key: Redacted.value(options.key),
    minVersion: "TLSv1.2",
    // A certificate of another authority counts as none: `identify` rejects the request with a Status.
    ...(options.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: options.clientCa }),
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: 10_000,
    // As in kube-apiserver: URLs may contain long label selectors.
    maxHeaderSize: 1024 * 1024,
    headersTimeout: options.headersTimeout ?? 30_000,
    requestTimeout: Math.max(60_000, options.headersTimeout ?? 0),
    connectionsCheckingInterval: Math.min(5_000, options.headersTimeout ?? 5_000),
    keepAliveTimeout: 90_000,
    noDelay: true,
    // Node would send its own response: `exchange` checks the header instead.
    requireHostHeader: false
  })

const bind = (server: Server, port: number): Effect.Effect<number, ListenError> =>
  Effect.callback<number, ListenError>((resume) => {
    const onError = (error: NodeJS.ErrnoException): void => resume(Effect.fail(listenError(port, error)))
    server.once("error", onError)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", onError)
      // A failing accept (no file descriptors left) affects that one connection, not the process.
      server.on("error", () => undefined)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

const listenError = (port: number, error: NodeJS.ErrnoException): ListenError => {
  const where = `port ${port} on ${host}`
  if (error.code === "EADDRINUSE") {
    return new ListenError({
      port,
      message: `${where} is already in use: stop the process that listens there, or choose another port (0 takes a free one)`
    })
  }
  if (error.code === "EACCES") return new ListenError({ port, message: `${where} may not be used by this user` })
  return new ListenError({ port, message: `cannot listen on ${where}: ${error.message}` })
}

/** One request, from its head to its flushed response. Never fails: an error is a response, or a closed connection. */
const exchangeWith = (
  api: Api,
  identify: Identity.Identify,
  draining: Latch.Latch,
  watching: (change: 1 | -1) => void
) => {
  const reply = Effect.fnUntraced(function* (
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection
  ) {
    const answer = yield* respond(api, identify, draining, request, connection).pipe(Effect.catch(Effect.succeed))
    const close = draining.isOpen() || connection.isRefused
    if (answer._tag === "Answer") {
      return yield* Outgoing.answer(response, answer, {
        acceptEncoding: request.headers["accept-encoding"]?.toString(),
        close
      })
    }
    watching(1)
    connection.streams++
    const open =
      answer._tag === "Watch"
        ? { ...answer, lines: Stream.interruptWhen(answer.lines, draining.await) }
        : { ...answer, text: Stream.interruptWhen(answer.text, draining.await) }
    yield* Effect.ensuring(
      Outgoing.stream(response, open, close),
      Effect.sync(() => {
        connection.streams--
        watching(-1)
      })
    )
  })
  return (request: IncomingMessage, response: ServerResponse, connection: Connection): Effect.Effect<void> =>
    Effect.catchCause(reply(request, response, connection), (cause) => failWithDefect(response, cause))
}

/** The response to a request; error responses are failures here, so that each check can end the request. */
const respond = Effect.fnUntraced(function* (
  api: Api,
  identify: Identity.Identify,
  draining: Latch.Latch,
  message: IncomingMessage,
  connection: Connection
): Effect.fn.Return<ApiResponse, Answer> {
  if (draining.isOpen()) return yield* Effect.fail(StatusAnswer.shuttingDown)
  if (message.headers.host === undefined && message.httpVersion === "1.1") {
    return yield* Effect.fail(StatusAnswer.badRequest("missing required Host header"))
  }
  const target = Incoming.target(message.url ?? "/")
  if ("_tag" in target) return yield* Effect.fail(target)
  const user = yield* identify(message, target.path)
  if (user === undefined) return yield* Effect.fail(StatusAnswer.unauthorized)
  const received = yield* Incoming.body(message, (fail) => (connection.failBody = fail))
  const { contentType, text } = yield* Incoming.toJson(received, message.headers["content-type"])
  const headers = Incoming.headers(message)
  if (contentType !== undefined) headers["content-type"] = contentType
  const call: ApiRequest = { method: message.method ?? "GET", ...target, headers, body: text, user }
  return yield* api.handle(call)
})

/** A defect of the API or of this file: logs it, and sends a 500 if the head has not been sent, else closes the connection. */
const failWithDefect = (response: ServerResponse, cause: Cause.Cause<never>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.sync(() => void response.destroy())
  return Effect.andThen(
    Effect.logError("a request to the embedded API server failed", cause),
    Effect.suspend(() => {
      if (!response.headersSent) {
        return Outgoing.answer(response, StatusAnswer.internalError, { acceptEncoding: undefined, close: true })
      }
      response.destroy()
      return Effect.void
    })
  )
}

/** Order: no new connections, watches end, responses in flight finish, connections close; the last two within the limit. */
const shutdown = Effect.fnUntraced(function* (
  server: Server,
  connections: Connections,
  fibers: FiberSet.FiberSet<void>,
  draining: Latch.Latch,
  limit: Duration.Input
) {
  const closed = Latch.makeUnsafe(!server.listening)
  if (server.listening) server.close(() => closed.openUnsafe())
  draining.openUnsafe()
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), limit)
  connections.end()
  yield* Effect.timeoutOption(closed.await, "1 second")
  connections.destroy()
  yield* FiberSet.clear(fibers)
  yield* closed.await
})
