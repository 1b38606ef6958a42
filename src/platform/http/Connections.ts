/**
 * The connections of a transport: they are kept, reused, and verified with the current TLS material. When the material changes, new ones are
 * opened, and the old ones close after their last request, so a watch survives a certificate rotation. Closing the scope closes all connections.
 * Nothing here depends on Kubernetes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns"
import type { LookupFunction, Socket } from "node:net"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import type { buildConnector } from "undici"
import makeConnector from "undici/lib/core/connect.js"
import Agent from "undici/lib/dispatcher/agent.js"
import * as Monotonic from "../../streams/monotonic.ts"
import { type Endpoint, sameTls, type Tls } from "../../layers/Endpoint.ts"
import * as Http2 from "./Http2.ts"

export interface Connections {
  /** What sends a request with this material. Equal material returns the same one. */
  readonly senderUnsafe: (tls: Tls, form: Form) => Http2.Sender
}

/** `shared`: over HTTP/2, if the server offers it. `own`: over HTTP/1.1, where each request has a connection until its response has ended. */
export type Form = "shared" | "own"

type Senders = Readonly<Record<Form, Http2.Connected>>

/** `onResolved`: called with the duration of each DNS lookup, in milliseconds. */
export const make = (
  endpoint: Endpoint["Service"],
  onResolved?: (millis: number) => void
): Effect.Effect<Connections, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const resolving = onResolved === undefined ? {} : { lookup: measured(Monotonic.millis(clock), onResolved) }
    const build = yield* endpoint.proxy === undefined
      ? direct(endpoint.server, resolving)
      : proxied(Redacted.value(endpoint.proxy))
    /** Everything that may still have connections: the current senders and those that are closing. */
    const open = new Set<Http2.Connected>()
    let current: (Senders & { readonly tls: Tls }) | undefined
    yield* Effect.addFinalizer(() => Effect.promise(() => Promise.allSettled([...open].map((one) => one.destroy()))))
    const retire = (one: Http2.Connected): void => {
      const forget = () => open.delete(one)
      one.close().then(forget, forget)
    }
    const sendersUnsafe = (tls: Tls): Senders => {
      if (current !== undefined && sameTls(current.tls, tls)) return current
      const retired = current
      current = { ...build(tls), tls }
      open.add(current.shared).add(current.own)
      if (retired !== undefined) for (const one of new Set([retired.shared, retired.own])) retire(one)
      return current
    }
    return { senderUnsafe: (tls, form) => sendersUnsafe(tls)[form] }
  })

type Build = (tls: Tls) => Senders

const direct = (
  server: string,
  resolving: { readonly lookup?: LookupFunction }
): Effect.Effect<Build, never, Scope.Scope> =>
  Effect.map(Http2.make, (multiplexed) => {
    const { origin, protocol } = new URL(server)
    return (tls) => {
      const connect = { ...connectOptions(tls), ...resolving }
      const own = new Agent({ ...options, connect: connector(connect) })
      if (protocol !== "https:") return { shared: own, own }
      const either = makeConnector({ ...connect, allowH2: true })
      return { shared: multiplexed({ origin, connect: either, http1: own }), own }
    }
  })

/** HTTP/1.1 alone. It needs all of undici, which is loaded only here. */
const proxied = (proxy: string): Effect.Effect<Build> =>
  Effect.map(
    Effect.promise(() => import("undici")),
    ({ ProxyAgent }) =>
      (tls) => {
        const both = new ProxyAgent({
          ...options,
          uri: proxy,
          requestTls: connectOptions(tls),
          proxyTls: quick,
          proxyTunnel: true
        })
        return { shared: both, own: both }
      }
  )

/** Node's DNS lookup, with its duration measured. */
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
 * TCP keepalive: after 20 s without traffic Node sends ten probes, one each second, so a dead peer is noticed after half a minute. Go's client
 * takes 45 s (HTTP/2 pings). The delay is also below the 60 s after which common load balancers drop an idle connection.
 */
const quick = { keepAlive: true, keepAliveInitialDelay: 20_000, timeout: 10_000 }

/**
 * The TLS material as one context that all connections share, because parsing the certificates is a large part of a handshake. Invalid material is
 * passed on unchanged, so that the connection reports what is wrong with it.
 */
const secured = (material: SecureContextOptions) => {
  try {
    return { secureContext: createSecureContext(material) }
  } catch {
    return material
  }
}

/** Milliseconds. A controller that runs every ten seconds must not pay for a handshake each time. Each connection is 80 KiB, and a burst of writes leaves a hundred. */
const keepAlive = 30_000

const options = {
  // The default of undici differs between versions.
  allowH2: false,
  pipelining: 1,
  keepAliveTimeout: keepAlive,
  // Whatever longer time the server offers.
  keepAliveMaxTimeout: keepAlive,
  headersTimeout: 0,
  bodyTimeout: 0
}

/**
 * Opens a connection, and closes an aborted one with a TCP reset, which discards the bytes that have not been sent. Otherwise the kernel would go
 * on sending them: a leader that was cut off from the network could change objects when the network is back, in the term of another leader.
 * Connections through a proxy are excluded. The TCP socket is opened first and TLS is added on top, because only a TCP socket can be reset.
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

/** The internal flag that `resetAndDestroy` sets. That method would send pending bytes first. */
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
