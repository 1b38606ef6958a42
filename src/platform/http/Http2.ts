/**
 * Requests over HTTP/2: they share a connection, as in client-go, where over HTTP/1.1 each watch needs one of its own. A server that does not offer HTTP/2
 * gets HTTP/1.1. Only reads are sent so (`HttpTransport.ts` has the reasons). Nothing here depends on Kubernetes.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Http2 from "node:http2"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import type { buildConnector, Dispatcher } from "undici"

/** What takes requests: the part of undici's dispatchers that is used. */
export interface Sender {
  readonly dispatch: (options: Dispatcher.DispatchOptions, handler: Handler) => void
}

/** The callbacks of a request that are used. */
export type Handler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    "onRequestStart" | "onResponseStart" | "onResponseData" | "onResponseEnd" | "onResponseError"
  >
>

/** A sender with connections of its own. */
export interface Connected extends Sender {
  /** Closes each connection after its last response. Resolves when none is left. */
  readonly close: () => Promise<unknown>
  readonly destroy: () => Promise<unknown>
}

export interface Options {
  readonly origin: string
  /** Opens a TLS connection that offers both versions. */
  readonly connect: buildConnector.connector
  /** Gets the requests if the server chooses HTTP/1.1. */
  readonly http1: Sender
}

/** Bytes of a response that may wait for their reader. The server then stops sending this one. */
const streamWindow = 1024 * 1024

/** Bytes of all responses of a connection that may be on their way. Those that wait for their reader do not count. */
const connectionWindow = 16 * 1024 * 1024

/**
 * Milliseconds without a byte until a PING is sent, and until its acknowledgement must have arrived. A dead peer is noticed after half a minute, as over
 * HTTP/1.1, where TCP keepalive does it. Here it would not: the kernel does not probe while sent bytes are not acknowledged.
 */
const patience = { silence: 10_000, answer: 15_000 }

/** So many of these intervals without a request close a connection: half a minute, as over HTTP/1.1. */
const idleIntervals = 3

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = Http2.constants

interface Connection {
  readonly session: Http2.ClientHttp2Session
  readonly socket: Socket
  /** Requests in progress. */
  streams: number
  /** All requests. */
  started: number
}

interface Request {
  readonly options: Dispatcher.DispatchOptions
  readonly handler: Handler
  /** How often a server has refused it. */
  refusals: number
}

/** A server refuses what arrives after its GOAWAY. One that always refuses is an error. */
const maxRefusals = 3

/** Makes senders. The end of the scope does not close their connections: `close` or `destroy` does. */
export const make: Effect.Effect<(options: Options) => Connected, never, Scope.Scope> = Effect.map(
  FiberSet.makeRuntime<never, void, never>(),
  (fork) => (options) => sender(options, (connection) => fork(watchOver(connection)))
)

const sender = ({ connect, http1, origin }: Options, onOpened: (connection: Connection) => void): Connected => {
  const connections = new Set<Connection>()
  let waiting: Array<Request> = []
  let isOpening = false
  let isHttp1 = false
  let state: "open" | "closing" | "destroyed" = "open"
  /** Called when there is no connection, and none is being opened. */
  let onEmpty: Array<() => void> = []

  const dispatch = (request: Request): void => {
    if (isHttp1) return http1.dispatch(request.options, request.handler)
    for (const connection of connections) if (hasRoom(connection)) return start(connection, request, dispatch)
    waiting.push(request)
    open()
  }

  const open = (): void => {
    if (isOpening) return
    isOpening = true
    connect(targetOf(origin), (...[error, socket]) => {
      if (error !== null) return opened(error)
      if (state === "destroyed") {
        socket.destroy()
        return opened(new Error("the client is closed"))
      }
      if (!(socket instanceof TLSSocket) || socket.alpnProtocol !== "h2") {
        socket.destroy()
        isHttp1 = true
        return opened()
      }
      adopt(socket)
    })
  }

  const adopt = (socket: Socket): void => {
    const session = Http2.connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow }
    })
    const connection: Connection = { session, socket, streams: 0, started: 0 }
    connections.add(connection)
    onOpened(connection)
    let reason: Error = new Lost("the server closed the connection", "ECONNRESET")
    let isKnown = false
    session.on("error", (error) => (reason = error))
    // Before its settings have arrived it is not known how many streams it allows, and those beyond would wait for the end of others.
    session.once("remoteSettings", () => {
      isKnown = true
      session.setLocalWindowSize(connectionWindow)
      opened(hasRoom(connection) ? undefined : new Lost("the server takes no requests", "ECONNRESET"))
    })
    session.once("close", () => {
      connections.delete(connection)
      if (isKnown) checkEmpty()
      else opened(reason)
    })
  }

  const opened = (error?: Error): void => {
    isOpening = false
    const before = waiting
    waiting = []
    for (const request of before) {
      if (error === undefined) dispatch(request)
      else request.handler.onResponseError(neverStarted, error)
    }
    if (state === "closing") closeUnused()
    checkEmpty()
  }

  const closeUnused = (): void => {
    if (!isOpening) for (const { session } of connections) session.close()
  }

  const checkEmpty = (): void => {
    // A destroyed sender does not wait for a server that does not answer.
    if ((isOpening && state !== "destroyed") || connections.size > 0) return
    for (const resolve of onEmpty) resolve()
    onEmpty = []
  }

  const emptied = (): Promise<void> =>
    new Promise((resolve) => {
      onEmpty.push(resolve)
      checkEmpty()
    })

  return {
    dispatch: (options, handler) => dispatch({ options, handler, refusals: 0 }),
    close: () => {
      state = "closing"
      closeUnused()
      return emptied()
    },
    destroy: () => {
      state = "destroyed"
      for (const { session } of connections) session.destroy()
      return emptied()
    }
  }
}

/** With the code by which Node reports the same of a socket. */
class Lost extends Error {
  readonly code: string
  constructor(message: string, code: "ECONNRESET" | "ETIMEDOUT") {
    super(message)
    this.code = code
  }
}

const targetOf = (origin: string): buildConnector.Options => {
  const { host, hostname, port, protocol } = new URL(origin)
  return { host, hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol }
}

const hasRoom = ({ session, streams }: Connection): boolean =>
  !session.closed && !session.destroyed && streams < (session.remoteSettings.maxConcurrentStreams ?? 0)

const neverStarted: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined
}

/** `again` gets a request that the server has refused and not processed. Source: RFC 9113, 8.7. */
const start = (connection: Connection, request: Request, again: (request: Request) => void): void => {
  const { session } = connection
  const { handler, options } = request
  const { headers, method, path } = options
  let stream: Http2.ClientHttp2Stream | undefined
  let failure: Error | undefined
  let isAborted = false
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return isAborted
    },
    get paused() {
      return stream?.isPaused() ?? false
    },
    get reason() {
      return isAborted ? (failure ?? null) : null
    },
    abort: (reason) => {
      isAborted = true
      failure ??= reason
      stream?.close(NGHTTP2_CANCEL)
      stream?.destroy()
    },
    pause: () => stream?.pause(),
    resume: () => stream?.resume()
  }
  handler.onRequestStart(controller, undefined)
  if (failure !== undefined) return handler.onResponseError(controller, failure)
  try {
    stream = session.request(
      { ...(headers as Http2.OutgoingHttpHeaders), ":method": method, ":path": path },
      { endStream: true }
    )
  } catch (error) {
    return handler.onResponseError(controller, error as Error)
  }
  connection.streams++
  connection.started++
  let [isAnswered, isEnded] = [false, false]
  stream
    .once("response", ({ ":status": status = 0, ...rest }) => {
      isAnswered = true
      handler.onResponseStart(controller, status, rest)
      // From here on: of what is read while a request is written, Node emits the data before the head.
      stream.on("data", (chunk: Buffer) => handler.onResponseData(controller, chunk))
    })
    .once("end", () => (isEnded = true))
    .once("error", (error: Error) => (failure ??= error))
    .once("close", () => {
      connection.streams--
      const code = stream.rstCode
      const isRefused = code === NGHTTP2_REFUSED_STREAM && !isAnswered && !isAborted
      if (isEnded && failure === undefined && code === NGHTTP2_NO_ERROR) handler.onResponseEnd(controller, {})
      else if (isRefused && request.refusals++ < maxRefusals) again(request)
      else handler.onResponseError(controller, failure ?? new Lost("the connection was closed", "ECONNRESET"))
    })
}

/** Destroys a connection on which a PING is not acknowledged, and closes one that nothing uses. */
const watchOver = (connection: Connection): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { session, socket } = connection
    let idle = 0
    while (!session.destroyed) {
      const { started } = connection
      const { bytesRead } = socket
      yield* Effect.sleep(patience.silence)
      idle = connection.streams === 0 && connection.started === started ? idle + 1 : 0
      if (idle === idleIntervals) return session.close()
      if (socket.bytesRead !== bytesRead || session.destroyed) continue
      yield* Effect.timeoutOrElse(answered(session), {
        duration: patience.answer,
        orElse: () => Effect.sync(() => session.destroy(new Lost("the server does not answer", "ETIMEDOUT")))
      })
    }
  })

/** Also when the connection has ended. */
const answered = (session: Http2.ClientHttp2Session): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (session.destroyed || !session.ping(done)) done()
  })
