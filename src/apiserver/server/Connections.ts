/**
 * The open connections of the front, and what is going on on each: which calls it carries, whether a body is being read,
 * whether the parser has given up on it. This is where Node's own errors (`clientError`, `checkExpectation`, `connect`) are
 * put into `Status` form, in turn with the answers that are still under way on the same connection.
 */
import type * as Fiber from "effect/Fiber"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Server } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { Answer } from "../Api.ts"
import * as StatusAnswer from "./statusAnswer.ts"

/** Milliseconds a refused connection may linger so that its peer can read why. */
const linger = 2_000

export class Connection {
  /** The calls under way; all are interrupted when the connection closes. */
  private readonly calls = new Set<Fiber.Fiber<void>>()
  /** Watches among them: they have sent their head and have no end of their own. */
  streams = 0
  /** Set while a body is being read: ends the reading with a refusal. */
  failBody: ((answer: Answer) => void) | undefined
  /** What to say when the calls under way are done. */
  private parting: Answer | undefined
  /** Nothing that arrives from now on is read. */
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
    if (this.calls.size === 0 && this.parting !== undefined) this.part(this.parting)
  }

  /** The parser cannot go on. The refusal is given once, after the answers that come before it. */
  refuse(answer: Answer): void {
    if (this.isRefused) return
    this.isRefused = true
    if (this.failBody !== undefined) return this.failBody(answer)
    if (this.streams > 0) return void this.socket.destroy()
    if (this.calls.size === 0) return this.part(answer)
    this.parting = answer
  }

  private part(answer: Answer): void {
    this.parting = undefined
    partWith(this.socket, answer)
  }
}

const partWith = (socket: Duplex, answer: Answer): void => {
  if (socket.destroyed || !socket.writable) return void socket.destroy()
  if ("setTimeout" in socket && typeof socket.setTimeout === "function") {
    socket.setTimeout(linger, () => socket.destroy())
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

  /** The record of a connection whose handshake is done. */
  of(socket: Socket): Connection {
    const known = this.secured.get(socket)
    if (known !== undefined) return known
    const connection = new Connection(socket)
    this.secured.set(socket, connection)
    socket.once("close", () => this.secured.delete(socket))
    return connection
  }

  /** Registers the handlers of everything but requests. */
  attach(server: Server): void {
    server.on("connection", (socket: Socket) => {
      this.raw.add(socket)
      socket.once("close", () => this.raw.delete(socket))
    })
    server.on("secureConnection", (socket) => void this.of(socket))
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const connection = this.secured.get(socket as Socket)
      // Without TLS there is no way to say anything: noise, port scans, clients that do not trust us.
      if (connection === undefined || error.code === "ECONNRESET" || error.code === "EPIPE")
        return void socket.destroy()
      // The rest of what a refused peer is still sending; cutting it off now could cost it the answer.
      if (connection.isRefused) return
      if (!socket.writable) return void socket.destroy()
      connection.refuse(StatusAnswer.ofParserError(error.code))
    })
    server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
      const { body, contentType, status } = StatusAnswer.expectationFailed
      response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body) })
      response.end(body)
    })
    server.on("connect", (_request, socket) => partWith(socket, StatusAnswer.methodNotAllowed("CONNECT")))
  }

  /** Says goodbye to everybody who has finished the handshake. */
  end(): void {
    for (const socket of this.secured.keys()) socket.end()
  }

  destroy(): void {
    for (const socket of this.raw) socket.destroy()
  }
}
