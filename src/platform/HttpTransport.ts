/**
 * `Transport` over HTTP/2 and HTTP/1.1: reads take what the server offers, with Node and undici, everything else HTTP/1.1 with undici. Connections are kept for each scope;
 * the identity is read before every request, and a 401 is retried once with new credentials. It classifies failures and is interruptible at any time.
 * Deadlines, retries and idle detection are the caller's.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
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
import * as Deadlines from "./http/Deadlines.ts"
import { ConnectionLost, Exchange, type Failure, type Head } from "./http/Exchange.ts"
import * as ListBody from "./http/ListBody.ts"
import * as RequestMetrics from "./http/requestMetrics.ts"
import { spaced } from "./http/spaced.ts"
import * as Unanswered from "./http/Unanswered.ts"
import { type Query, type Request, type Response, Transport } from "../layers/Transport.ts"

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
    const deadlines = yield* Deadlines.make
    const link: Link = { ...addressOf(endpoint.server), endpoint, connections, agent, observer, unanswered, deadlines }
    return Transport.of({
      endsCalls: true,
      send: (request) => timed(request, send(link, request), detail, now),
      watch: (request) => Stream.unwrap(watch(link, request))
    })
  })

/** What every request shares. */
interface Link {
  readonly origin: string
  /** The path of the server's URL, without a slash at the end. */
  readonly prefix: string
  readonly endpoint: Endpoint.Endpoint["Service"]
  readonly connections: Connections.Connections
  /** The User-Agent. */
  readonly agent: string
  readonly observer: Observer
  readonly unanswered: Unanswered.Unanswered | undefined
  readonly deadlines: Deadlines.Deadlines
}

const addressOf = (server: string): Pick<Link, "origin" | "prefix"> => {
  const { origin, pathname } = new URL(server)
  return { origin, prefix: pathname.replace(/\/$/, "") }
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

const send = (link: Link, request: Request): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.flatMap(authenticated(link, request, whole), ({ body, head, list }) =>
    head.status < 300 ? Answer.decode(request, head, body, list) : refusal(request, head, body)
  )

const watch = Effect.fnUntraced(function* (link: Link, request: Request) {
  const { body, exchange, head } = yield* authenticated(link, request, stream)
  if (body !== undefined) return yield* refusal(request, head, body)
  const bytes = Stream.fromPull(Effect.succeed(exchange.pull()))
  const failing = Stream.mapError(bytes, (cause) => Answer.broken(request.context, link.endpoint.server, cause))
  const events = Framing.events(failing, request.context, { omitManagedFields: request.omitManagedFields })
  return request.interval === undefined ? events : spaced(events, exchange, request, request.interval)
})

const refusal = ({ context }: Request, head: Head, body: Buffer): Effect.Effect<never, ApiError.ApiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(Answer.failure(context, head, body, now)))

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

type Attempt<A extends { readonly head: Head }, R> = (
  link: Link,
  request: Request,
  identity: Endpoint.Identity
) => Effect.Effect<A, ApiError.ApiError, R>

/** An attempt with the present identity, and after a 401 another one with new credentials if there are any. */
const authenticated = <A extends { readonly head: Head }, R>(
  link: Link,
  request: Request,
  attempt: Attempt<A, R>
): Effect.Effect<A, ApiError.ApiError, R> => {
  const { identity, renew } = link.endpoint
  const known = <B, E>(effect: Effect.Effect<B, E>) =>
    Effect.mapError(effect, (cause) => ApiError.credentials(request.context, cause))
  return Effect.flatMap(known(identity), (present) =>
    Effect.flatMap(attempt(link, request, present), (first) =>
      first.head.status !== 401
        ? Effect.succeed(first)
        : Effect.flatMap(known(renew(present)), (isRenewed) =>
            isRenewed
              ? Effect.flatMap(known(identity), (fresh) => attempt(link, request, fresh))
              : Effect.succeed(first)
          )
    )
  )
}

interface Whole {
  readonly head: Head
  readonly body: Buffer
  /** The body, where it is parsed as it arrives; `body` is empty then. */
  readonly list: ListBody.ListBody | undefined
}

/** The whole response in one callback: each further one would cost as much again. An interrupted caller leaves no request behind. */
const whole: Attempt<Whole, never> = (link, request, identity) =>
  Effect.callback((resume) => {
    const { deadlines, observer, unanswered } = link
    const options = dispatchOptions(link, request, identity)
    const answered = observer.attempt(request, options.body?.byteLength ?? 0)
    let list: ListBody.ListBody | undefined
    const consume = (head: Head) => {
      if (head.status >= 300 || !Answer.isJson(head)) return undefined
      list = ListBody.make()
      return list.push
    }
    const exchange = new Exchange(
      "whole",
      request.mayStartUnsafe,
      request.omitManagedFields === true ? consume : undefined
    )
    let isOver = false
    let forgetLimit: (() => void) | undefined
    let forgetEnd: (() => void) | undefined
    let forgetAnswer: (() => void) | undefined
    const leave = (): void => {
      isOver = true
      forgetAnswer?.()
      forgetLimit?.()
      forgetEnd?.()
      exchange.abortUnsafe()
    }
    const finish = (result: Effect.Effect<Whole, ApiError.ApiError>): void => {
      if (isOver) return
      leave()
      resume(result)
    }
    exchange.startUnsafe(link.connections.senderUnsafe(identity.tls, formOf(request)), options)
    exchange.whenOverUnsafe((failure) => {
      const { head } = exchange
      // A request that was never sent is not counted.
      if (failure?._tag !== "NotStarted") answered(failure === null ? head?.status : undefined)
      if (failure !== null || head === undefined) {
        return finish(Effect.fail(Answer.broken(request.context, link.endpoint.server, failure ?? noAnswer())))
      }
      const body = exchange.takeUnsafe()
      observer.received(request.method, list?.size() ?? body.byteLength)
      finish(Effect.succeed({ head, body, list }))
    })
    if (isOver) return undefined
    forgetAnswer = unanswered?.addUnsafe(exchange)
    const { context, endUnsafe, limit } = request
    if (limit !== undefined) {
      forgetLimit = deadlines.addUnsafe(Duration.toMillis(limit), () => {
        answered(undefined)
        finish(Effect.fail(ApiError.timeout(context, limit)))
      })
    }
    forgetEnd = endUnsafe?.((error) => finish(Effect.fail(error)))
    return Effect.sync(leave)
  })

const noAnswer = () => new ConnectionLost({ cause: "no answer" })

interface Opened {
  readonly head: Head
  readonly exchange: Exchange
  /** Of an error. */
  readonly body: Buffer | undefined
}

/** The head of the response; its body is read as it arrives. The scope aborts it. */
const stream: Attempt<Opened, Scope.Scope> = Effect.fnUntraced(function* (link, request, identity) {
  const exchange = new Exchange("stream", request.mayStartUnsafe)
  let forgetAnswer: (() => void) | undefined
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      forgetAnswer?.()
      exchange.abortUnsafe()
    })
  )
  const answered = link.observer.attempt(request, undefined)
  const broken = (failure: Failure) => Answer.broken(request.context, link.endpoint.server, failure)
  exchange.startUnsafe(
    link.connections.senderUnsafe(identity.tls, formOf(request)),
    dispatchOptions(link, request, identity)
  )
  forgetAnswer = link.unanswered?.addUnsafe(exchange)
  const head = yield* Effect.mapError(exchange.awaitHead(), (failure) => {
    if (failure._tag !== "NotStarted") answered(undefined)
    return broken(failure)
  })
  answered(head.status)
  const body = head.status < 300 ? undefined : yield* Effect.mapError(exchange.body(), broken)
  return { exchange, head, body }
})

/**
 * Reads share a connection. Writes do not: one over Node's HTTP/2 costs more, and one that is aborted must not leave later, which resets its connection. Nor does a
 * watch that is read at long intervals: its own connection is not read in between, while on a shared one each event wakes the process.
 */
const formOf = ({ interval = 0, method }: Request): Connections.Form =>
  method === "GET" && interval < longInterval ? "shared" : "own"

/** Milliseconds. */
const longInterval = 100

/** Milliseconds until the head of a response must have arrived. Only a safety net: callers set their own deadlines. */
const headersTimeout = 300_000

const dispatchOptions = (
  { agent, origin, prefix }: Link,
  request: Request,
  identity: Endpoint.Identity
): Dispatcher.DispatchOptions & { readonly body: Buffer | null } => ({
  origin,
  path: `${prefix}${request.path}${queryString(request.query)}`,
  method: request.method,
  body: request.body === undefined ? null : Buffer.from(JSON.stringify(request.body)),
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
