/**
 * The open connections of the HTTPS server with their state: the requests in flight, whether a body is being read, whether the parser
 * has failed. Node's own errors (`clientError`, `checkExpectation`, `connect`) become `Status` responses here, after the responses in
 * flight on the same connection.
 */
import type * as Fiber from "effect/Fiber"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Server } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { Answer } from "../Api.ts"
import * as StatusAnswer from "./statusAnswer.ts"

/** Milliseconds that a rejected connection stays open so that the client can read the response. */
const lingerMillis = 2_000

export class Connection {
  /** The requests in flight; all are interrupted when the connection closes. */
  private readonly calls = new Set<Fiber.Fiber<void>>()
  /** The watches among them: they have sent their head and have no end of their own. */
  streams = 0
  /** Set while a body is being read: fails the read with a response. */
  failBody: ((answer: Answer) => void) | undefined
  /** The response to send when no request is in flight any more. */
  private finalAnswer: Answer | undefined
  /** No further input is read. */
  isRefused = false

  private readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
    socket.once("close", () => {
      for (const call of this.calls) call.interruptUnsafe()
    })
  }

  add(call: Fiber.Fiber<void>): void {
    this.calls.add(call)
  }

  remove(call: Fiber.Fiber<void>): void {
    this.calls.delete(call)
    if (this.calls.size === 0 && this.finalAnswer !== undefined) this.close(this.finalAnswer)
  }

  /** The parser has failed. The response is sent once, after the responses in flight. */
  refuse(answer: Answer): void {
    if (this.isRefused) return
    this.isRefused = true
    if (this.failBody !== undefined) return this.failBody(answer)
    if (this.streams > 0) return void this.socket.destroy()
    if (this.calls.size === 0) return this.close(answer)
    this.finalAnswer = answer
  }

  private close(answer: Answer): void {
    this.finalAnswer = undefined
    closeWith(this.socket, answer)
  }
}

const closeWith = (socket: Duplex, answer: Answer): void => {
  if (socket.destroyed || !socket.writable) return void socket.destroy()
  if ("setTimeout" in socket && typeof socket.setTimeout === "function") {
    socket.setTimeout(lingerMillis, () => socket.destroy())
  }
  socket.end(StatusAnswer.raw(answer))
  socket.resume()
}

export class Connections {
  private readonly raw = new Set<Socket>()
  private readonly secured = new Map<Socket, Connection>()

  get size(): number {
    return this.secured.size
  }

  /** The state of a connection after its handshake. */
  of(socket: Socket): Connection {
    const known = this.secured.get(socket)
    if (known !== undefined) return known
    const connection = new Connection(socket)
    this.secured.set(socket, connection)
    socket.once("close", () => this.secured.delete(socket))
    return connection
  }

  /** Registers the event handlers other than `request`. */
  attach(server: Server): void {
    server.on("connection", (socket: Socket) => {
      this.raw.add(socket)
      socket.once("close", () => this.raw.delete(socket))
    })
    server.on("secureConnection", (socket) => void this.of(socket))
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const connection = this.secured.get(socket as Socket)
      // Without TLS no response is possible: noise, port scans, clients that do not trust the server.
      if (connection === undefined || error.code === "ECONNRESET" || error.code === "EPIPE")
        return void socket.destroy()
      // The remaining input of a rejected client: closing now could lose the response.
      if (connection.isRefused) return
      if (!socket.writable) return void socket.destroy()
      connection.refuse(StatusAnswer.ofParserError(error.code))
    })
    server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
      const { body, contentType, status } = StatusAnswer.expectationFailed
      response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body) })
      response.end(body)
    })
    server.on("connect", (_request, socket) => closeWith(socket, StatusAnswer.methodNotAllowed("CONNECT")))
  }

  /** Ends all connections whose handshake is done. */
  end(): void {
    for (const socket of this.secured.keys()) socket.end()
  }

  destroy(): void {
    for (const socket of this.raw) socket.destroy()
  }
}
