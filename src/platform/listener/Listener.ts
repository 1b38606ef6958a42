/**
 * A small HTTP or HTTPS server for probes, metrics, debug pages and webhooks: it listens for as long as its scope is open, and lets
 * responses in flight finish within a limit. By default it allows GET and HEAD and bodies of a few bytes. It uses Node directly, as the
 * embedded API server does, so that an idle process loads one dependency less. Platform edge.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ServerHttp2Stream } from "node:http2"
import * as Shutdown from "../../layers/Shutdown.ts"
import { type Address, format, isLoopback, isOwnName } from "../../layers/http/address.ts"
import { Bodies, type Body } from "./bodies.ts"
import * as Door from "./server.ts"
import { type HttpResponse, type HttpRequest, type Handler, notAllowed, text } from "../../layers/http/handler.ts"

/** The server cannot listen; the message is one sentence for the user. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly message: string
  /** The address is in use. */
  readonly isBusy: boolean
}> {}

/** PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: Redacted.Redacted
  /** Authorities of client certificates. Absent: clients need no certificate. */
  readonly clientAuthorities?: string | undefined
}

export interface Options {
  /** For messages: `metrics`. */
  readonly name: string
  /** The setting to change when the address cannot be had. */
  readonly setting: string
  /** What that setting is for there to be no server. Default 0. */
  readonly off?: string | undefined
  readonly address: Address
  /** Present: HTTPS. */
  readonly certificate?: Certificate | undefined
  /** With HTTPS, HTTP/2 as well for those who ask for it. Default false. */
  readonly http2?: boolean | undefined
  /** Further ones than GET and HEAD. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** Bytes of a body; what is longer the handler gets as a 413. Default 1 KiB: most bodies are one word. */
  readonly bodyLimit?: number | undefined
  /** How long closing waits for answers under way, and no longer than a stop has time for them. Default 2 seconds. */
  readonly drainLimit?: Duration.Input | undefined
  readonly handle: Handler
}

export interface Listening {
  readonly port: number
  /** Which handshakes use from now on; connections that are open keep theirs. No effect without TLS. */
  readonly replaceUnsafe: (certificate: Certificate) => void
}

const defaults = { bodyLimit: 1024, drainLimit: 2000 }

export const listen = Effect.fnUntraced(function* (options: Options) {
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const tls = options.certificate === undefined ? undefined : tlsOf(options.certificate)
  const door = yield* Effect.promise(() => Door.make(tls, options.http2 === true))
  const bodies = new Bodies()
  door.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const body = bodies.make(nextPart(request), options.bodyLimit ?? defaults.bodyLimit)
    const fiber = fork(Effect.ensuring(reply(options, { request, response, body }), Effect.sync(body.releaseUnsafe)))
    response.once("close", () => fiber.interruptUnsafe())
  })
  yield* Effect.addFinalizer(() => shutdown(door, fibers, drainLimit(options)))
  const port = yield* bind(door.server, options)
  const listening: Listening = {
    port,
    replaceUnsafe: (certificate) => door.renew(tlsOf(certificate))
  }
  return listening
})

const tlsOf = ({ cert, clientAuthorities, key }: Certificate): Door.Tls => ({
  cert,
  key: Redacted.value(key),
  minVersion: "TLSv1.2",
  ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities, requestCert: true })
})

const bind = (server: Door.Door["server"], options: Options): Effect.Effect<number, ListenError> =>
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

const listenError = ({ address, name, off = "0", setting }: Options, error: NodeJS.ErrnoException): ListenError => {
  const isBusy = error.code === "EADDRINUSE"
  const why = isBusy ? "it is already in use" : error.message
  return new ListenError({
    isBusy,
    message: `cannot serve ${name} on ${format(address)}: ${why}; choose another address with --${setting}, or ${off} for none`
  })
}

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Body
}

/** Never fails: an error is a response, or a closed connection. */
const reply = (options: Options, call: Call): Effect.Effect<void> =>
  Effect.suspend(() => {
    const parsed = read(call, options)
    return "status" in parsed ? Effect.succeed(parsed) : options.handle(parsed)
  }).pipe(
    Effect.flatMap((result) => write(call, result)),
    Effect.catchCause((cause) => fail(options, call.response, cause))
  )

/** Over HTTPS certificates prevent this: a page has no certificate for another's name. */
const isForeign = ({ headers, socket }: IncomingMessage, { address, certificate }: Options): boolean => {
  if (certificate !== undefined || !isLoopback(socket.localAddress)) return false
  const { host, "sec-fetch-site": site } = headers
  // Browsers send the site of the page: a request from another site does harm even if the page cannot read the response.
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
      // At once: what a second call of read would return would be lost.
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

/** Headers that refuse the rest of a body; without them Node would read it for as long as the client sends. */
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

/** Milliseconds. What a stop does after all else keeps its time. */
const drainLimit = (options: Options): Effect.Effect<number> =>
  options.drainLimit === undefined
    ? Effect.succeed(defaults.drainLimit)
    : Shutdown.atMost("flush", Duration.toMillis(options.drainLimit))

/** In this order: no new connections, answers under way finish within the limit, connections close. */
const shutdown = Effect.fnUntraced(function* (
  door: Door.Door,
  fibers: FiberSet.FiberSet<void>,
  drainLimit: Effect.Effect<number>
) {
  const closed = Latch.makeUnsafe(!door.server.listening)
  if (door.server.listening) door.server.close(() => closed.openUnsafe())
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), yield* drainLimit)
  door.closeIdle()
  yield* Effect.timeoutOption(closed.await, "500 millis")
  door.closeAll()
  yield* FiberSet.clear(fibers)
  yield* closed.await
})
