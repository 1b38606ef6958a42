/**
 * A small HTTP or HTTPS server for probes, metrics, debug pages and webhooks. It listens for as long as its scope is open and lets responses in
 * flight finish within a limit. By default it allows GET and HEAD, and bodies up to 1 KiB. It uses Node directly, so that an idle process does not
 * load an HTTP library.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ServerHttp2Stream } from "node:http2"
import { hostname } from "node:os"
import { connect } from "node:tls"
import * as Shutdown from "../../layers/Shutdown.ts"
import { type Address, format, isLoopback, isOwnName } from "../../layers/http/address.ts"
import type { Certificate } from "../../layers/http/Certificates.ts"
import * as Contract from "../../layers/http/Listener.ts"
import { Bodies, type Body } from "./bodies.ts"
import * as CertificateFiles from "./certificateFiles.ts"
import * as HttpServer from "./server.ts"
import { type HttpResponse, type HttpRequest, notAllowed, text } from "../../layers/http/handler.ts"

const defaults = { bodyLimit: 1024, drainLimit: 2000 }

type Options = Contract.Options

export const listen = Effect.fnUntraced(function* (options: Options) {
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const tls = options.certificate === undefined ? undefined : tlsOf(options.certificate)
  const httpServer = yield* Effect.promise(() => HttpServer.make(tls, options.http2 === true))
  const bodies = new Bodies()
  httpServer.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const body = bodies.make(nextPart(request), options.bodyLimit ?? defaults.bodyLimit)
    const fiber = fork(Effect.ensuring(reply(options, { request, response, body }), Effect.sync(body.releaseUnsafe)))
    response.once("close", () => fiber.interruptUnsafe())
  })
  yield* Effect.addFinalizer(() => shutdown(httpServer, fibers, drainLimit(options)))
  const port = yield* bind(httpServer.server, options)
  const listening: Contract.Listening = {
    port,
    replaceUnsafe: (certificate) => httpServer.renew(tlsOf(certificate))
  }
  return listening
})

const tlsOf = ({ cert, clientAuthorities, key }: Certificate): HttpServer.Tls => ({
  cert,
  key: Redacted.value(key),
  minVersion: "TLSv1.2",
  ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities, requestCert: true })
})

const bind = (server: HttpServer.HttpServer["server"], options: Options): Effect.Effect<number, Contract.ListenError> =>
  Effect.callback<number, Contract.ListenError>((resume) => {
    const { host, port } = options.address
    const onError = (error: NodeJS.ErrnoException): void => resume(Effect.fail(listenError(options, error)))
    server.once("error", onError)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", onError)
      // A failed accept, for example without free file descriptors, loses that one connection and not the process.
      server.on("error", () => undefined)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

const listenError = (
  { address, name, off = "0", setting }: Options,
  error: NodeJS.ErrnoException
): Contract.ListenError => {
  const isBusy = error.code === "EADDRINUSE"
  const why = isBusy ? "it is already in use" : error.message
  return new Contract.ListenError({
    isBusy,
    message: `cannot serve ${name} on ${format(address)}: ${why}; choose another address with --${setting}, or ${off} for none`
  })
}

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Body
}

/** Never fails: after an error the client gets a 500, or the connection is closed. */
const reply = (options: Options, call: Call): Effect.Effect<void> =>
  Effect.suspend(() => {
    const parsed = read(call, options)
    return "status" in parsed ? Effect.succeed(parsed) : options.handle(parsed)
  }).pipe(
    Effect.flatMap((result) => write(call, result)),
    Effect.catchCause((cause) => fail(options, call.response, cause))
  )

/**
 * Whether a web page of another site sent the request (DNS rebinding, CSRF). Over HTTPS the certificate prevents it, because such a page uses
 * another host name.
 */
const isForeign = ({ headers, socket }: IncomingMessage, { address, certificate }: Options): boolean => {
  if (certificate !== undefined || !isLoopback(socket.localAddress)) return false
  const { host, "sec-fetch-site": site } = headers
  // Browsers send `sec-fetch-site`. A cross-site request may do harm even if the page cannot read the response.
  if (typeof site === "string" && site !== "none" && site !== "same-origin") return true
  return host !== undefined && !isOwnName(host, address.host)
}

const read = ({ body, request }: Call, options: Options): HttpRequest | HttpResponse => {
  if (isForeign(request, options)) return text(403, "Forbidden: ask by an address, or by the name localhost\n")
  const method = request.method ?? "GET"
  const methods = ["GET", "HEAD", ...(options.methods ?? [])]
  if (!methods.includes(method)) return notAllowed(methods.join(", "))
  const [raw = "/", query = ""] = (request.url ?? "/").split(/\?([^]*)/, 2)
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1]
  try {
    return {
      method,
      path: decodeURIComponent(raw),
      query: new URLSearchParams(query),
      bearer: bearer === undefined ? undefined : Redacted.make(bearer, { label: "token" }),
      contentType: request.headers["content-type"],
      body: Effect.match(body.parts, {
        onSuccess: (parts) => Buffer.concat(parts).toString("utf8"),
        onFailure: ({ message, status }) => text(status, `${message}\n`)
      })
    }
  } catch {
    return text(400, "Bad Request\n")
  }
}

/** Reads on demand, so that a client cannot send faster than the handler reads. */
const nextPart = (request: IncomingMessage): Effect.Effect<Uint8Array | undefined> =>
  Effect.callback((resume) => {
    const ignore = (): void => void request.off("readable", look).off("end", look)
    const look = (): void => {
      const part: Buffer | null = request.read()
      if (part === null && !request.readableEnded) return
      // The listeners are removed at once: a part that a second call of `read` returned would be lost.
      ignore()
      resume(Effect.succeed(part ?? undefined))
    }
    request.on("readable", look).on("end", look)
    look()
    return Effect.sync(ignore)
  })

const write = ({ request, response }: Call, result: HttpResponse): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const { body, contentType, headers, status } = result
    response.writeHead(status, {
      "content-type": contentType ?? "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache, private",
      ...(typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {}),
      ...refuseTheRest(request),
      ...headers
    })
    if (typeof body === "string" || request.method === "HEAD") {
      response.end(typeof body === "string" && request.method !== "HEAD" ? body : undefined)
      return Effect.void
    }
    return Effect.andThen(
      Stream.runForEach(body, (chunk) => send(response, chunk)),
      Effect.sync(() => void response.end())
    )
  })

/** Headers that reject the rest of a body. Without them Node would read it for as long as the client sends. */
const refuseTheRest = (request: IncomingMessage): Readonly<Record<string, string>> => {
  if (request.readableEnded) return {}
  const stream = "stream" in request ? (request.stream as ServerHttp2Stream) : undefined
  if (stream !== undefined) {
    if (!stream.endAfterHeaders) stream.once("finish", () => stream.close())
    return {}
  }
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
  return length === "0" && encoding === undefined ? {} : { connection: "close" }
}

/** Waits until the client has read what was written. */
const send = (response: ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (response.write(chunk)) return resume(Effect.void)
    const onDrain = (): void => resume(Effect.void)
    response.once("drain", onDrain)
    return Effect.sync(() => void response.off("drain", onDrain))
  })

const fail = ({ name }: Options, response: ServerResponse, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.sync(() => void response.destroy())
  return Effect.andThen(
    Effect.logError(`a request to the ${name} server failed`, cause),
    Effect.sync(() => {
      if (response.headersSent) return void response.destroy()
      const { body, status } = text(500, "Internal Server Error\n")
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body)
    })
  )
}

/** Milliseconds. A shutdown leaves enough of its time for the steps after this one. */
const drainLimit = (options: Options): Effect.Effect<number> =>
  options.drainLimit === undefined
    ? Effect.succeed(defaults.drainLimit)
    : Shutdown.atMost("flush", Duration.toMillis(options.drainLimit))

/** Accepts no new connections, lets responses in flight finish within the limit, then closes all connections. */
const shutdown = Effect.fnUntraced(function* (
  httpServer: HttpServer.HttpServer,
  fibers: FiberSet.FiberSet<void>,
  drainLimit: Effect.Effect<number>
) {
  const closed = Latch.makeUnsafe(!httpServer.server.listening)
  if (httpServer.server.listening) httpServer.server.close(() => closed.openUnsafe())
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), yield* drainLimit)
  httpServer.closeIdle()
  yield* Effect.timeoutOption(closed.await, "500 millis")
  httpServer.closeAll()
  yield* FiberSet.clear(fibers)
  yield* closed.await
})

/** Milliseconds; the next probe tries again. */
const handshakeTimeout = 2000

const handshake = ({ host, port }: Address): Effect.Effect<string, Contract.HandshakeError> =>
  Effect.callback((resume) => {
    const socket = connect({ host: reachable(host), port, rejectUnauthorized: false, timeout: handshakeTimeout })
    const fail = (message: string): void => {
      socket.destroy()
      resume(Effect.fail(new Contract.HandshakeError({ message })))
    }
    socket.once("secureConnect", () => {
      const validTo = socket.getPeerX509Certificate()?.validTo ?? ""
      socket.destroy()
      resume(Effect.succeed(validTo))
    })
    socket.once("error", (error) => fail(error.message))
    socket.once("timeout", () => fail("a handshake takes too long"))
    return Effect.sync(() => void socket.destroy())
  })

/** A host that connects to a server on this machine, also where the server listens on all addresses. */
const reachable = (host: string | undefined): string =>
  host === undefined || host === "0.0.0.0" || host === "::" ? "localhost" : host

/** The certificate library is loaded only here, because it is large. */
const selfSigned = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Effect.promise(async () => (await import("./signing.ts")).temporary(hostname(), now))
)

export const listener = Contract.Listener.of({
  listen,
  readFiles: CertificateFiles.read,
  followFiles: CertificateFiles.follow,
  preset: CertificateFiles.preset,
  selfSigned,
  handshake
})
