/**
 * A door of one's own to an API server: HTTPS on loopback with its own certificate, in front of another server. It notes who
 * asked for what, so that a test can tell several clients apart from the server's side, and can leave requests unanswered.
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
  /** Requests that this one is true for are taken and never answered. */
  hold: (line: string) => boolean
  /** Requests for which this has a status are answered with it and not passed on. */
  refuse: (line: string) => number | undefined
  /** Requests for which this has a body are answered with it and 200, and not passed on. */
  answer: (line: string) => string | undefined
  /** Milliseconds that every request waits before it is passed on. */
  latency: number
  /** Writes whose client went away before their answer. */
  readonly cut: Array<string>
}

/**
 * `seen` is called with `PATCH /api/v1/nodes/a?…` before the request is passed on, `gone` when its client goes away before the answer
 * is complete, as everybody does who ends a watch.
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
        } else if (status !== undefined) turnDown(status, request, response)
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

/** As an API server words it. */
const turnDown = (code: number, request: IncomingMessage, response: ServerResponse): void => {
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
