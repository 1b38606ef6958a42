/**
 * `Transport` over HTTP/1.1 with undici: one dispatcher for each scope, whose connections are reused; the identity is read before every request,
 * and a 401 is retried once with new credentials. It classifies failures and is interruptible at any time. Deadlines, retries and idle detection
 * are the caller's. Only this module uses undici.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Dispatcher } from "undici"
import * as ApiError from "../kube/ApiError.ts"
import * as Framing from "../streams/watch/decode.ts"
import * as Monotonic from "../streams/monotonic.ts"
import * as Endpoint from "../layers/Endpoint.ts"
import * as Answer from "./http/answer.ts"
import * as Connections from "./http/Connections.ts"
import { Exchange, type Head } from "./http/Exchange.ts"
import * as RequestMetrics from "./http/requestMetrics.ts"
import * as Unanswered from "./http/Unanswered.ts"
import { type Query, type Request, Transport } from "../layers/Transport.ts"

/** Settings of a transport. */
export interface Options {
  /** The User-Agent header, which audit logs show. Default: `effect-controller-manager`. */
  readonly userAgent?: string | undefined
}

/** A transport to the server of the service `Endpoint`. */
export const layerWith = (options: Options): Layer.Layer<Transport, never, Endpoint.Endpoint> =>
  Layer.effect(
    Transport,
    Effect.flatMap(Endpoint.Endpoint, (endpoint) => make(endpoint, options))
  )

/** The same with default options. */
export const layer: Layer.Layer<Transport, never, Endpoint.Endpoint> = layerWith({})

/** A transport to that endpoint. Its connections are kept and shared until the scope closes. */
export const make = (
  endpoint: Endpoint.Endpoint["Service"],
  options: Options = {}
): Effect.Effect<Transport["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { host } = new URL(endpoint.server)
    const detail = yield* RequestMetrics.detail(host)
    const connections = yield* Connections.make(endpoint, detail?.resolved)
    const count = yield* RequestMetrics.make(host)
    const now = Monotonic.millis(yield* Clock.Clock)
    const observer = observing(count, detail)
    // Behind a proxy the check would reach the proxy, not the server.
    const unanswered =
      endpoint.proxy === undefined ? yield* Unanswered.make(Unanswered.reach(endpoint.server)) : undefined
    const agent = options.userAgent ?? "effect-controller-manager"
    const open = opener(endpoint, connections, { agent, observer, unanswered })
    return Transport.of({
      send: (request) => timed(request, Effect.scoped(sendWith(open, endpoint.server, request, observer)), detail, now),
      watch: (request) => Stream.unwrap(watchWith(open, endpoint.server, request))
    })
  })

/** An error body is a `Status` object of a few kilobytes; a longer one is cut. */
const maxErrorBody = 1024 * 1024

type Open = (request: Request, form: "whole" | "stream") => Effect.Effect<Opened, ApiError.ApiError, Scope.Scope>

interface Opened {
  readonly head: Head
  readonly exchange: Exchange
}

/** A request that was never sent is not measured. Source: client-go rest.Request.request, which does not measure watches either. */
const timed = <A>(
  { method }: Request,
  call: Effect.Effect<A, ApiError.ApiError>,
  detail: RequestMetrics.Detail | undefined,
  now: () => number
): Effect.Effect<A, ApiError.ApiError> => {
  if (detail === undefined) return call
  return Effect.suspend(() => {
    const since = now()
    const answered = Effect.sync(() => detail.answered(method, now() - since))
    return call.pipe(
      Effect.tap(answered),
      Effect.tapError((error) => (ApiError.hasReason(error, "LeaderFenced") ? Effect.void : answered))
    )
  })
}

const sendWith = Effect.fnUntraced(function* (open: Open, server: string, request: Request, observer: Observer) {
  const { exchange, head } = yield* open(request, "whole")
  const body = yield* Effect.mapError(exchange.all(Infinity), (cause) => Answer.broken(request.context, server, cause))
  observer.received(request.method, body.byteLength)
  return yield* Answer.decode(request.context, head, body)
})

const watchWith = Effect.fnUntraced(function* (open: Open, server: string, request: Request) {
  const { exchange } = yield* open(request, "stream")
  const bytes = Stream.fromPull(Effect.succeed(exchange.pull))
  const failing = Stream.mapError(bytes, (cause) => Answer.broken(request.context, server, cause))
  return Framing.events(failing, request.context, { omitManagedFields: request.omitManagedFields })
})

interface Observer {
  /**
   * Called for each attempt with the size of its body, unless it is a watch. The returned function is called at the end, with the status code if
   * there was a response.
   */
  readonly attempt: (request: Request, bytes: number | undefined) => (code: number | undefined) => void
  /** Called with the size of a response body in bytes. */
  readonly received: RequestMetrics.Detail["received"]
}

const observing = (count: RequestMetrics.Count, detail: RequestMetrics.Detail | undefined): Observer => {
  if (detail === undefined)
    return {
      attempt:
        ({ method }) =>
        (code) =>
          count(method, code),
      received: () => undefined
    }
  /** Requests that were sent before; a retried request keeps its context. */
  const before = new WeakSet<ApiError.Context>()
  return {
    attempt: ({ context, method }, bytes) => {
      const isRepeated = before.has(context)
      if (bytes !== undefined) detail.sent(method, bytes)
      return (code) => {
        count(method, code)
        before.add(context)
        if (isRepeated) detail.repeated(method, code)
      }
    },
    received: detail.received
  }
}

/** What every request shares: its User-Agent, the metrics, and the check for unanswered requests. */
interface Shared {
  readonly agent: string
  readonly observer: Observer
  readonly unanswered: Unanswered.Unanswered | undefined
}

/**
 * Sends a request and waits for the head of its response. A status other than 2xx fails after its body was read. The exchange is aborted when the
 * scope closes, so an interrupted caller leaves no request behind.
 */
const opener = (
  endpoint: Endpoint.Endpoint["Service"],
  connections: Connections.Connections,
  { agent, observer, unanswered }: Shared
): Open => {
  const base = new URL(endpoint.server)
  const prefix = base.pathname.replace(/\/$/, "")
  const attempt = Effect.fnUntraced(function* (
    request: Request,
    form: "whole" | "stream",
    identity: Endpoint.Identity
  ) {
    const exchange = new Exchange(form, request.mayStartUnsafe)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        unanswered?.deleteUnsafe(exchange)
        exchange.abortUnsafe()
      })
    )
    const options = dispatchOptions(base, prefix, request, identity, agent)
    const bytes = options.body === null ? 0 : Buffer.byteLength(options.body)
    const ended = observer.attempt(request, form === "whole" ? bytes : undefined)
    const head = yield* Effect.suspend(() => {
      exchange.startUnsafe(connections.dispatcherUnsafe(identity.tls), options)
      unanswered?.addUnsafe(exchange)
      return exchange.awaitHead
    }).pipe(
      Effect.mapError((cause) => Answer.broken(request.context, endpoint.server, cause)),
      // A request that was never sent is not counted.
      Effect.tapError((error) =>
        Effect.sync(() => (ApiError.hasReason(error, "LeaderFenced") ? undefined : ended(undefined)))
      )
    )
    ended(head.status)
    return { exchange, head }
  })
  return Effect.fnUntraced(function* (request, form) {
    const identity = yield* Effect.mapError(endpoint.identity, (cause) => ApiError.credentials(request.context, cause))
    const first = yield* attempt(request, form, identity)
    if (first.head.status < 300) return first
    if (first.head.status !== 401) return yield* refuse(endpoint.server, request, first, observer)
    const renewed = yield* Effect.mapError(endpoint.renew(identity), (cause) =>
      ApiError.credentials(request.context, cause)
    )
    if (!renewed) return yield* refuse(endpoint.server, request, first, observer)
    const fresh = yield* Effect.mapError(endpoint.identity, (cause) => ApiError.credentials(request.context, cause))
    const second = yield* attempt(request, form, fresh)
    return second.head.status < 300 ? second : yield* refuse(endpoint.server, request, second, observer)
  })
}

const refuse = Effect.fnUntraced(function* (
  server: string,
  request: Request,
  { exchange, head }: Opened,
  observer: Observer
) {
  const body = yield* Effect.mapError(exchange.all(maxErrorBody), (cause) =>
    Answer.broken(request.context, server, cause)
  )
  observer.received(request.method, body.byteLength)
  return yield* Answer.failure(request.context, head, body, yield* Clock.currentTimeMillis)
})

/** Milliseconds until the head of a response must have arrived. Only a safety net: callers set their own deadlines. */
const headersTimeout = 300_000

const dispatchOptions = (
  base: URL,
  prefix: string,
  request: Request,
  identity: Endpoint.Identity,
  agent: string
): Dispatcher.DispatchOptions & { readonly body: string | null } => ({
  origin: base.origin,
  path: `${prefix}${request.path}${queryString(request.query)}`,
  method: request.method,
  body: request.body === undefined ? null : JSON.stringify(request.body),
  headers: {
    accept: request.accept ?? "application/json",
    "user-agent": request.userAgent ?? agent,
    ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
    ...(Redacted.value(identity.headers) as Record<string, string | Array<string>>)
  },
  // API servers read the body of a DELETE. By default undici would close the connection after it.
  reset: false,
  headersTimeout
})

const queryString = (query: Query = {}): string => {
  let out = ""
  for (const name of Object.keys(query)) {
    const value = query[name]
    if (value === undefined) continue
    for (const one of typeof value === "object" ? value : [value]) {
      out += `${out === "" ? "?" : "&"}${encodeURIComponent(name)}=${encodeURIComponent(one)}`
    }
  }
  return out
}
