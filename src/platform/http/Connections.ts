/**
 * The one dispatcher of a transport: connections are kept, reused and verified with the TLS material of the moment. When the
 * material changes, a new dispatcher takes over and the old one closes once its last request has ended, so a watch outlives
 * a certificate rotation. Lives in a scope; closing it cuts everything. Not for anything that knows Kubernetes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns"
import type { LookupFunction, Socket } from "node:net"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import type { buildConnector, Dispatcher } from "undici"
import makeConnector from "undici/lib/core/connect.js"
import Agent from "undici/lib/dispatcher/agent.js"
import * as Monotonic from "../../streams/monotonic.ts"
import { type Endpoint, sameTls, type Tls } from "../../layers/Endpoint.ts"

export interface Connections {
  /** The dispatcher for this material; the same one as long as the material is equal. */
  readonly dispatcherUnsafe: (tls: Tls) => Dispatcher
}

/** `onResolved`: called with how long each resolution of a host has taken, in milliseconds. */
export const make = (
  endpoint: Endpoint["Service"],
  onResolved?: (millis: number) => void
): Effect.Effect<Connections, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const resolving = onResolved === undefined ? {} : { lookup: measured(Monotonic.millis(clock), onResolved) }
    const build = yield* builder(endpoint, resolving)
    /** Every dispatcher that may still hold a connection: the current one and those that are running out. */
    const open = new Set<Dispatcher>()
    let current: { readonly tls: Tls; readonly dispatcher: Dispatcher } | undefined
    yield* Effect.addFinalizer(() => Effect.promise(() => Promise.allSettled([...open].map((one) => one.destroy()))))
    return {
      dispatcherUnsafe: (tls) => {
        if (current !== undefined && sameTls(current.tls, tls)) return current.dispatcher
        const retired = current?.dispatcher
        current = { tls, dispatcher: build(tls) }
        open.add(current.dispatcher)
        if (retired !== undefined) {
          const forget = () => open.delete(retired)
          retired.close().then(forget, forget)
        }
        return current.dispatcher
      }
    }
  })

/** Milliseconds. */
const keepAlive = 90_000

/** The proxy's dispatcher needs the whole of undici, so it is loaded when a proxy is configured and not before. */
const builder = (
  endpoint: Endpoint["Service"],
  resolving: { readonly lookup?: LookupFunction }
): Effect.Effect<(tls: Tls) => Dispatcher> => {
  const { proxy } = endpoint
  return proxy === undefined
    ? Effect.succeed((tls) => new Agent({ ...options, connect: connector({ ...connectOptions(tls), ...resolving }) }))
    : Effect.map(
        Effect.promise(() => import("undici")),
        ({ ProxyAgent }) =>
          (tls) =>
            new ProxyAgent({
              ...options,
              uri: Redacted.value(proxy),
              requestTls: connectOptions(tls),
              proxyTls: quick,
              proxyTunnel: true
            })
      )
}

/** Node's resolution, and how long it took. */
const measured =
  (now: () => number, onResolved: (millis: number) => void): LookupFunction =>
  (hostname, options, done) => {
    const since = now()
    lookup(hostname, options, (error, address, family) => {
      onResolved(now() - since)
      done(error, address, family)
    })
  }

const connectOptions = (tls: Tls) => ({
  ...secured({ ca: tls.ca, cert: tls.cert, key: tls.key === undefined ? undefined : Redacted.value(tls.key) }),
  rejectUnauthorized: tls.rejectUnauthorized,
  ...(tls.servername === undefined ? {} : { servername: tls.servername }),
  ...quick
})

/**
 * Node looks every second, ten times, whether a peer that was quiet for so long is there: one that is not is noticed after half a minute. Go's
 * client takes 45 s (HTTP/2 pings). It is also below the 60 s after which common load balancers forget a quiet connection.
 */
const quick = { keepAlive: true, keepAliveInitialDelay: 20_000, timeout: 10_000 }

/**
 * The material in the form that all connections share: reading certificates anew is a good part of a handshake. What cannot be
 * read is passed on as it is, so that the connection says what is wrong with it.
 */
const secured = (material: SecureContextOptions) => {
  try {
    return { secureContext: createSecureContext(material) }
  } catch {
    return material
  }
}

const options = {
  // One protocol version on every Node and undici version; HTTP/2 is a decision, not a default.
  allowH2: false,
  pipelining: 1,
  // Idle connections are kept as long as Go's client keeps them: a ten-second schedule must not pay a handshake each time.
  keepAliveTimeout: keepAlive,
  headersTimeout: 0,
  bodyTimeout: 0
}

/**
 * How a connection is opened, and how it ends when it is given up: with a reset, so that bytes which have not left this machine never
 * do. A kernel would otherwise go on sending them after the caller has been informed that the request is no more: a leader that was
 * cut off from the network would change things when the cable is back, in the term of another. Not for connections through a proxy.
 * TCP first, TLS over it: only the TCP socket can be reset.
 */
const connector = (options: buildConnector.BuildOptions): buildConnector.connector => {
  const plain = makeConnector(options)
  return (target, callback) => {
    if (target.protocol !== "https:") return plain(target, abrupt(callback, undefined))
    plain({ ...target, protocol: "http:", port: target.port || "443" }, (error, wire) =>
      error === null ? plain({ ...target, httpSocket: wire }, abrupt(callback, wire)) : callback(error, null)
    )
  }
}

/** Node's own flag of `resetAndDestroy`, which itself sends what is there first. */
interface Resettable extends Socket {
  resetAndClosing?: boolean
}

const abrupt =
  (callback: buildConnector.Callback, wire: Resettable | undefined): buildConnector.Callback =>
  (...answer) => {
    const [error, socket] = answer
    if (error !== null) return callback(error, null)
    const below: Resettable = wire ?? socket
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (reason) => {
      if (reason !== undefined) below.resetAndClosing = true
      return destroy(reason)
    }
    callback(null, socket)
  }
