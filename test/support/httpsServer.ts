/**
 * A bare HTTPS server on loopback. The test writes every response, and the server counts what a client does: accepted and open connections, and
 * requests. Tests wait for events, never for time.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createSecureServer, type SecureServerOptions } from "node:http2"
import { createServer as createTlsServer, type ServerOptions } from "node:https"
import type { Socket } from "node:net"
import { freePorts } from "../../src/testing/envtest/ports.ts"

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

export interface TestServer {
  readonly url: string
  readonly port: number
  /** All connections that were accepted. */
  accepted: number
  readonly sockets: Set<Socket>
  /** `GET /path?query`, in order of arrival. */
  readonly requests: Array<string>
  /** Resolves when no connection is open. */
  readonly quiet: () => Promise<void>
  /** Refuses new connections; open ones stay. */
  readonly stopListening: () => void
  /** Listens again on the same port. */
  readonly listenAgain: () => Promise<void>
}

export const versions = ["HTTP/1.1", "HTTP/2"] as const
export type Version = (typeof versions)[number]

const listening = (
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  tls: (ServerOptions & SecureServerOptions) | undefined,
  version: Version
) => {
  if (tls === undefined) return createServer(onRequest)
  if (version === "HTTP/1.1") return createTlsServer(tls, onRequest)
  // Its requests and responses have what the tests use of those of HTTP/1.1.
  return createSecureServer({ ...tls, allowHTTP1: true }, onRequest as never)
}

/** Plain HTTP without `tls`; with it, HTTP/2 is offered beside HTTP/1.1 if it is asked for. The scope closes it, connections included. */
export const start = (
  handler: Handler,
  tls?: ServerOptions & SecureServerOptions,
  version: Version = "HTTP/1.1"
): Effect.Effect<TestServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const requests: Array<string> = []
      let onQuiet: Array<() => void> = []
      const onRequest = (request: IncomingMessage, response: ServerResponse) => {
        requests.push(`${request.method} ${request.url}`)
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => handler(request, response, Buffer.concat(parts).toString()))
      }
      const server = listening(onRequest, tls, version)
      const state: Pick<TestServer, "accepted" | "sockets" | "requests" | "quiet"> = {
        accepted: 0,
        sockets,
        requests,
        quiet: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => onQuiet.push(resolve)))
      }
      server.on("connection", (socket: Socket) => {
        state.accepted++
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          sockets.delete(socket)
          if (sockets.size > 0) return
          for (const tell of onQuiet) tell()
          onQuiet = []
        })
      })
      server.on("tlsClientError", () => {})
      const listen = async (port: number) => {
        server.listen(port, "127.0.0.1")
        await once(server, "listening")
      }
      const [port = 0] = await freePorts(1)
      await listen(port)
      const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`
      let closed: Promise<unknown> = Promise.resolve()
      const stopListening = () => {
        closed = once(server, "close")
        server.close()
      }
      const listenAgain = async () => {
        await closed
        await listen(port)
      }
      return { server, state: Object.assign(state, { url, port, stopListening, listenAgain }) }
    }),
    ({ server, state }) =>
      Effect.promise(async () => {
        if (!server.listening) return
        const closed = once(server, "close")
        server.close()
        for (const socket of state.sockets) socket.destroy()
        await closed
      })
  ).pipe(Effect.map(({ state }) => state))

export const answer = (response: ServerResponse, code: number, body: object) =>
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body))

/** metav1.Status of a failure. */
export const status = (code: number, reason: string, message: string) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  code,
  reason,
  message
})
