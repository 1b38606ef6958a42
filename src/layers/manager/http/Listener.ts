/**
 * A small HTTP or HTTPS server for probes and metrics: it listens for as long as its scope is open and lets each answer that is
 * under way finish within a bound. Only GET and HEAD, no bodies. Node is driven directly, as the embedded API server's front
 * does: one dependency less to load in a process that should idle small. Platform edge.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type Server as SecureServer } from "node:https"
import { type Address, format } from "./address.ts"
import { type Answer, type Asked, type Handler, text } from "./exchange.ts"

/** The server cannot listen; the message is one sentence for the user. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly message: string
  /** Somebody else listens there. */
  readonly isBusy: boolean
}> {}

/** PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: Redacted.Redacted
}

export interface Options {
  /** For messages: `metrics`. */
  readonly name: string
  /** The setting to change when the address cannot be had. */
  readonly setting: string
  readonly address: Address
  /** Present: HTTPS. */
  readonly certificate?: Certificate | undefined
  readonly handle: Handler
}

export interface Listening {
  readonly port: number
  /** Which handshakes use from now on; connections that are open keep theirs. No effect without TLS. */
  readonly replaceUnsafe: (certificate: Certificate) => void
}

/** How long closing waits for answers under way. */
const drainLimit = "2 seconds"

export const listen = Effect.fnUntraced(function* (options: Options) {
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const secure = options.certificate === undefined ? undefined : createSecureServer(tlsOf(options.certificate))
  const server: Server | SecureServer = secure ?? createServer()
  server.headersTimeout = 10_000
  server.requestTimeout = 20_000
  server.keepAliveTimeout = 90_000
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const fiber = fork(reply(options, request, response))
    response.once("close", () => fiber.interruptUnsafe())
  })
  yield* Effect.addFinalizer(() => shutdown(server, fibers))
  const port = yield* bind(server, options)
  const listening: Listening = {
    port,
    replaceUnsafe: (certificate) => secure?.setSecureContext(tlsOf(certificate))
  }
  return listening
})

const tlsOf = ({ cert, key }: Certificate) => ({ cert, key: Redacted.value(key), minVersion: "TLSv1.2" as const })

const bind = (server: Server | SecureServer, options: Options): Effect.Effect<number, ListenError> =>
  Effect.callback<number, ListenError>((resume) => {
    const { host, port } = options.address
    const onError = (error: NodeJS.ErrnoException): void => resume(Effect.fail(listenError(options, error)))
    server.once("error", onError)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", onError)
      // A failing accept (no file descriptors left) costs that one connection, not the process.
      server.on("error", () => undefined)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

const listenError = ({ address, name, setting }: Options, error: NodeJS.ErrnoException): ListenError => {
  const isBusy = error.code === "EADDRINUSE"
  const why = isBusy ? "it is already in use" : error.message
  return new ListenError({
    isBusy,
    message: `cannot serve ${name} on ${format(address)}: ${why}; choose another address with --${setting}, or 0 for none`
  })
}

/** Never fails: what goes wrong is an answer, or a closed connection. */
const reply = (options: Options, request: IncomingMessage, response: ServerResponse): Effect.Effect<void> =>
  Effect.suspend(() => {
    const asked = read(request)
    return "status" in asked ? Effect.succeed(asked) : options.handle(asked)
  }).pipe(
    Effect.flatMap((answer) => Effect.sync(() => write(response, answer))),
    Effect.catchCause((cause) => mishap(options, response, cause))
  )

const read = (request: IncomingMessage): Asked | Answer => {
  const method = request.method ?? "GET"
  if (method !== "GET" && method !== "HEAD") {
    return { ...text(405, "Method Not Allowed\n"), headers: { allow: "GET, HEAD" } }
  }
  const [raw = "/", query = ""] = (request.url ?? "/").split(/\?([^]*)/, 2)
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1]
  try {
    return {
      method,
      path: decodeURIComponent(raw),
      query: new URLSearchParams(query),
      bearer: bearer === undefined ? undefined : Redacted.make(bearer, { label: "token" })
    }
  } catch {
    return text(400, "Bad Request\n")
  }
}

const write = (response: ServerResponse, { body, contentType, headers, status }: Answer): void => {
  response.writeHead(status, {
    "content-type": contentType ?? "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
    "content-length": Buffer.byteLength(body),
    ...headers
  })
  response.end(body)
}

const mishap = ({ name }: Options, response: ServerResponse, cause: Cause.Cause<never>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.sync(() => void response.destroy())
  return Effect.andThen(
    Effect.logError(`a request to the ${name} server failed`, cause),
    Effect.sync(() =>
      response.headersSent ? void response.destroy() : write(response, text(500, "Internal Server Error\n"))
    )
  )
}

/** In this order: no new connections, answers under way finish within the limit, connections close. */
const shutdown = Effect.fnUntraced(function* (server: Server | SecureServer, fibers: FiberSet.FiberSet<void>) {
  const closed = Latch.makeUnsafe(!server.listening)
  if (server.listening) server.close(() => closed.openUnsafe())
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), drainLimit)
  server.closeIdleConnections()
  yield* Effect.timeoutOption(closed.await, "500 millis")
  server.closeAllConnections()
  yield* FiberSet.clear(fibers)
  yield* closed.await
})
