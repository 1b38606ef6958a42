/**
 * One interface for Node's three servers: HTTP/1.1, HTTP/1.1 over TLS, and HTTP/2 over TLS with a fallback to HTTP/1.1. Requests arrive as events,
 * connections can be closed, and the certificate can be replaced. HTTP/2 is loaded only if a setting enables it. Responses are written elsewhere.
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
  /** Authorities of client certificates. Absent: clients need no certificate. */
  readonly ca?: string
  readonly requestCert?: boolean
}

export interface HttpServer {
  /** Its `request` events carry the request and response objects of node:http, for HTTP/2 as well. */
  readonly server: NetServer
  /** Closes connections without a request in flight. */
  readonly closeIdle: () => void
  readonly closeAll: () => void
  /** Sets the certificate for new handshakes; no effect without TLS. */
  readonly renew: (tls: Tls) => void
}

/**
 * Milliseconds: for a handshake, for the headers of a request, for a whole request, for an idle connection, and between two checks for late
 * clients. Bodies have a shorter limit of their own, in `bodies.ts`.
 */
const limits = { handshake: 10_000, head: 10_000, request: 20_000, idle: 90_000, look: 5000 }

const connectionChecks = { connectionsCheckingInterval: limits.look }
const handshakes = { handshakeTimeout: limits.handshake, ...connectionChecks }

export const make = async (tls: Tls | undefined, http2: boolean): Promise<HttpServer> => {
  if (tls === undefined) return http1Server(createServer(connectionChecks), () => undefined)
  if (http2)
    return http2Server((await import("node:http2")).createSecureServer({ ...tls, ...handshakes, ...http2Options }))
  const server = createSecureServer({ ...tls, ...handshakes })
  return http1Server(server, (tls) => server.setSecureContext(tls))
}

const http1Server = (server: Server, renew: HttpServer["renew"]): HttpServer => {
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

/** Limits of one connection: concurrent requests, and megabytes of memory. */
const http2Options = { allowHTTP1: true, maxSessionMemory: 1, settings: { maxConcurrentStreams: 64 } }

const http2Server = (server: Http2SecureServer): HttpServer => {
  // The fallback to HTTP/1.1 gets the same limits; the types of Node do not declare these properties.
  Object.assign(server, { headersTimeout: limits.head, requestTimeout: limits.request, keepAliveTimeout: limits.idle })
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<TLSSocket>()
  server.on("session", (session) => {
    sessions.add(session)
    session.setTimeout(limits.idle, () => session.close())
    // A client that violates the protocol loses its connection only.
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
