/**
 * `Transport` over HTTP/1.1 on undici: one scoped dispatcher whose connections are reused, an identity asked for before every
 * request, and one more try with new credentials after a 401. It classifies failures and observes interruption at once;
 * deadlines, retries and idle detection belong above it. The only user of undici.
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
  /** The user agent in the server's audit log; `effect-controller-manager` unless said otherwise. */
  readonly userAgent?: string | undefined
}

/** A transport to whatever `Endpoint` says. */
export const layerWith = (options: Options): Layer.Layer<Transport, never, Endpoint.Endpoint> =>
  Layer.effect(
    Transport,
    Effect.flatMap(Endpoint.Endpoint, (endpoint) => make(endpoint, options))
  )

/** To the endpoint of the context. */
export const layer: Layer.Layer<Transport, never, Endpoint.Endpoint> = layerWith({})

/** Connections are kept and shared until the scope closes. */
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
    // Behind a proxy it is the proxy that would be found.
    const unanswered =
      endpoint.proxy === undefined ? yield* Unanswered.make(Unanswered.reach(endpoint.server)) : undefined
    const agent = options.userAgent ?? "effect-controller-manager"
    const open = opener(endpoint, connections, { agent, observer, unanswered })
    return Transport.of({
      send: (request) => timed(request, Effect.scoped(sendWith(open, endpoint.server, request, observer)), detail, now),
      watch: (request) => Stream.unwrap(watchWith(open, endpoint.server, request))
    })
  })

/** Error bodies are `Status` objects of a few kilobytes; what is longer is not one. */
const maxErrorBody = 1024 * 1024

type Open = (request: Request, form: "whole" | "stream") => Effect.Effect<Opened, ApiError.ApiError, Scope.Scope>

interface Opened {
  readonly head: Head
  readonly exchange: Exchange
}

/** What was never sent took no time. Source: client-go rest.Request.request, which does not measure watches either. */
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
   * Called for each attempt, with the size of its body unless it is a watch; the returned function is called at the end, with the code of the answer
   * if there was one.
   */
  readonly attempt: (request: Request, bytes: number | undefined) => (code: number | undefined) => void
  /** The body of an answer, in bytes. */
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
  /** Of requests that were sent before; a request keeps its context through all attempts. */
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

/** What goes with each request, and who watches over it. */
interface Around {
  readonly agent: string
  readonly observer: Observer
  readonly unanswered: Unanswered.Unanswered | undefined
}

/**
 * Sends a request and waits for the head of its answer; everything but a 2xx is read and fails. The exchange is aborted when
 * the scope closes, so an interrupted caller leaves no request behind.
 */
const opener = (
  endpoint: Endpoint.Endpoint["Service"],
  connections: Connections.Connections,
  { agent, observer, unanswered }: Around
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
      // What was never sent was no request.
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

/** Milliseconds until the head of an answer must be there; a safety net, the deadline of a call is its caller's. */
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
  // API servers read the body of a DELETE; undici otherwise gives up a connection on which it has sent one.
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
