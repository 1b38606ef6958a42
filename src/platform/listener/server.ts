/**
 * The three servers that the platform has - HTTP/1.1, the same over TLS, and HTTP/2 over TLS with a way back to HTTP/1.1 - as one
 * thing: requests come as events, connections can be closed, the certificate exchanged. HTTP/2 is loaded only when a setting
 * wants it. Knows nothing of responses. Platform edge.
 */
import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { Http2SecureServer, ServerHttp2Session } from "node:http2"
import type { Server as NetServer } from "node:net"
import type { TLSSocket } from "node:tls"

export interface Tls {
  readonly cert: string
  readonly key: string
  readonly minVersion: "TLSv1.2"
  /** Of clients; without it they need not show anything. */
  readonly ca?: string
  readonly requestCert?: boolean
}

export interface Door {
  /** Its `request` events have the requests and responses of node:http, whichever the protocol. */
  readonly server: NetServer
  /** Closes connections without a request in flight. */
  readonly closeIdle: () => void
  readonly closeAll: () => void
  /** For handshakes from now on; no effect without TLS. */
  readonly renew: (tls: Tls) => void
}

/**
 * Milliseconds: for a handshake, for the head of a request, for all of it, between two on one connection, and how often it is looked who is
 * late. Bodies have a limit of their own, which is part of the third.
 */
const limits = { handshake: 10_000, head: 10_000, request: 20_000, idle: 90_000, look: 5000 }

const looking = { connectionsCheckingInterval: limits.look }
const handshakes = { handshakeTimeout: limits.handshake, ...looking }

export const make = async (tls: Tls | undefined, http2: boolean): Promise<Door> => {
  if (tls === undefined) return classic(createServer(looking), () => undefined)
  if (http2) return modern((await import("node:http2")).createSecureServer({ ...tls, ...handshakes, ...modernOptions }))
  const server = createSecureServer({ ...tls, ...handshakes })
  return classic(server, (tls) => server.setSecureContext(tls))
}

const classic = (server: Server, renew: Door["renew"]): Door => {
  server.headersTimeout = limits.head
  server.requestTimeout = limits.request
  server.keepAliveTimeout = limits.idle
  return {
    server,
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
    renew
  }
}

/** One connection carries many requests: so many at once, and so many megabytes of memory. */
const modernOptions = { allowHTTP1: true, maxSessionMemory: 1, settings: { maxConcurrentStreams: 64 } }

const modern = (server: Http2SecureServer): Door => {
  // Those who speak HTTP/1.1 are held to the same; the platform's types do not know that they can be.
  Object.assign(server, { headersTimeout: limits.head, requestTimeout: limits.request, keepAliveTimeout: limits.idle })
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<TLSSocket>()
  server.on("session", (session) => {
    sessions.add(session)
    session.setTimeout(limits.idle, () => session.close())
    // A peer that breaks the rules loses its connection, and nothing else happens.
    session.on("error", () => session.destroy())
    session.once("close", () => sessions.delete(session))
  })
  server.on("secureConnection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  return {
    server,
    closeIdle: () => {
      for (const session of sessions) session.close()
    },
    closeAll: () => {
      for (const socket of sockets) socket.destroy()
    },
    renew: (tls) => server.setSecureContext(tls)
  }
}
