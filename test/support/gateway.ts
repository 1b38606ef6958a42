/**
 * A gateway to an API server for one client: HTTPS on loopback with its own certificate, in front of another server. It records every request, so that a
 * test can distinguish several clients on the server's side, and can leave requests without a response.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Agent, createServer, request as send } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import * as Tls from "./tls.ts"

export interface Upstream {
  readonly server: string
  readonly ca: string
  readonly token: string
}

export interface Gateway {
  readonly server: string
  readonly ca: string
  /** Requests for which this is true are accepted and never get a response. */
  hold: (line: string) => boolean
  /** Requests for which this returns a status get it as response and are not forwarded. */
  refuse: (line: string) => number | undefined
  /** Requests for which this returns a body get it with status 200 and are not forwarded. */
  answer: (line: string) => string | undefined
  /** Milliseconds that every request waits before it is forwarded. */
  latency: number
  /** Writes whose client disconnected before their response. */
  readonly cut: Array<string>
}

/**
 * `seen` is called with `PATCH /api/v1/nodes/a?…` before the request is forwarded, `gone` when its client disconnects before the response is
 * complete, as every client does that ends a watch.
 */
export const start = (
  upstream: Upstream,
  seen: (line: string) => void,
  gone: (line: string) => void = () => {}
): Effect.Effect<Gateway, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const authority = await Tls.authority("gateway")
      const agent = new Agent({ keepAlive: true, ca: upstream.ca })
      const sockets = new Set<Socket>()
      const gateway: Gateway = {
        server: "",
        ca: authority.cert,
        hold: () => false,
        refuse: () => undefined,
        answer: () => undefined,
        latency: 0,
        cut: []
      }
      const server = createServer(await authority.issue("127.0.0.1"), (request, response) => {
        const line = `${request.method} ${request.url}`
        seen(line)
        response.on("close", () => {
          if (response.writableFinished) return
          gone(line)
          if (request.method !== "GET") gateway.cut.push(line)
        })
        if (gateway.hold(line)) return
        const status = gateway.refuse(line)
        const body = gateway.answer(line)
        if (body !== undefined) {
          request.resume()
          response.writeHead(200, { "content-type": "application/json" }).end(body)
        } else if (status !== undefined) refuse(status, request, response)
        else if (gateway.latency === 0) forward(upstream, agent, request, response)
        else setTimeout(() => forward(upstream, agent, request, response), gateway.latency)
      })
      server.on("secureConnection", (socket: Socket) => {
        sockets.add(socket.on("error", () => {}))
        socket.on("close", () => sockets.delete(socket))
      })
      server.on("tlsClientError", () => {})
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      return { agent, server, sockets, gateway: Object.assign(gateway, { server: `https://127.0.0.1:${port}` }) }
    }),
    ({ agent, server, sockets }) =>
      Effect.promise(async () => {
        const closed = once(server.close(), "close")
        for (const socket of sockets) socket.destroy()
        agent.destroy()
        await closed
      })
  ).pipe(Effect.map(({ gateway }) => gateway))

/** The Status of an API server. */
const refuse = (code: number, request: IncomingMessage, response: ServerResponse): void => {
  request.resume()
  const reason = reasons.get(code)
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", message: `bad day: ${code}`, reason, code }
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body))
}

const reasons = new Map([
  [410, "Expired"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"]
])

const forward = (upstream: Upstream, agent: Agent, request: IncomingMessage, response: ServerResponse): void => {
  const { host: _, ...headers } = request.headers
  const onward = send(new URL(request.url ?? "/", upstream.server), {
    method: request.method,
    agent,
    headers: { ...headers, authorization: `Bearer ${upstream.token}` }
  })
  onward.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.on("error", () => response.destroy()).pipe(response)
  })
  onward.on("error", () => response.destroy())
  response.on("close", () => onward.destroy())
  request.on("error", () => onward.destroy()).pipe(onward)
}
