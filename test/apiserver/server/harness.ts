/**
 * The harness of the HTTPS server tests: a server with a scripted `Api`, and clients that use `node:https` or write bytes with
 * `node:tls`. It waits for socket events and never sleeps.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Agent, request as httpsRequest } from "node:https"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { createServer, type AddressInfo } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import type { Api, ApiRequest, ApiResponse } from "../../../src/apiserver/Api.ts"
import { make as makeCertificate } from "../../../src/apiserver/server/certificate.ts"
import * as HttpsServer from "../../../src/apiserver/server/HttpsServer.ts"

export const token = Redacted.make("correct-horse")

export const ok = (body: string, contentType = "application/json"): ApiResponse => ({
  _tag: "Answer",
  status: 200,
  contentType,
  body
})

export interface Served extends HttpsServer.HttpsServer {
  readonly ca: string
  readonly calls: Array<ApiRequest>
}

export const serve = (
  handle: (request: ApiRequest) => Effect.Effect<ApiResponse>,
  options: Partial<HttpsServer.Options> = {}
) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const material = yield* Effect.promise(() => makeCertificate(now))
    const calls: Array<ApiRequest> = []
    const api: Api = {
      authenticate: () => Effect.succeed(undefined),
      handle: (request) =>
        Effect.suspend(() => {
          calls.push(request)
          return handle(request)
        })
    }
    const listener = yield* HttpsServer.listen({ api, ...material, token, ...options })
    const served: Served = { ...listener, ca: material.ca, calls }
    return served
  })

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  readonly agent?: Agent
}

const authorization = { authorization: `Bearer ${Redacted.value(token)}` }

const open = (server: Served, call: Call): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = httpsRequest({
      host: "127.0.0.1",
      port: server.port,
      ca: server.ca,
      method: call.method ?? "GET",
      path: call.path ?? "/api",
      headers: { ...authorization, ...call.headers },
      agent: call.agent ?? new Agent({ ca: server.ca })
    })
    request.once("response", resolve).once("error", reject).end(call.body)
  })

const readAll = async (message: IncomingMessage): Promise<Reply> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return { status: message.statusCode ?? 0, headers: message.headers, body, text: body.toString() }
}

export const call = (server: Served, options: Call = {}): Effect.Effect<Reply> =>
  Effect.promise(async () => readAll(await open(server, options)))

/** A response that is read as it arrives; aborted with the scope. */
export const stream = (server: Served, options: Call = {}) =>
  Effect.gen(function* () {
    const message = yield* Effect.acquireRelease(
      Effect.promise(() => open(server, options)),
      (message) => Effect.sync(() => message.destroy())
    )
    const iterator = message[Symbol.asyncIterator]()
    return {
      status: message.statusCode ?? 0,
      /** The next chunk; undefined at a clean end. A cut connection is a defect. */
      next: Effect.promise(async () => {
        const result = await iterator.next()
        return result.done === true ? undefined : String(result.value)
      }),
      abort: Effect.sync(() => message.destroy())
    }
  })

/** Connects, writes the text as it is and reads until the server closes. */
export const rawly = (server: Served, text: string | ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: "127.0.0.1", port: server.port, ca: server.ca, servername: "localhost" })
        let received = ""
        socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
        socket.once("secureConnect", () => {
          for (const part of typeof text === "string" ? [text] : text) socket.write(part, "latin1")
        })
        socket.once("error", (error) => (received === "" ? reject(error) : resolve(received)))
        socket.once("end", () => {
          socket.end()
          resolve(received)
        })
      })
  )

export const rawSocket = (server: Served) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<TLSSocket>((resolve, reject) => {
          const socket = connect({ host: "127.0.0.1", port: server.port, ca: server.ca, servername: "localhost" })
          socket.once("secureConnect", () => resolve(socket)).once("error", reject)
        })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** A port on which another server listens until the scope closes. */
export const portInUse = Effect.gen(function* () {
  const other = createServer()
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => other.close())
  )
  return (other.address() as AddressInfo).port
})

/** A watch whose lines the test supplies; `opened` and `closed` report its lifetime in the server. */
export const scriptedWatch = Effect.gen(function* () {
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const life = yield* Queue.unbounded<"opened" | "closed">()
  const answer: ApiResponse = {
    _tag: "Watch",
    contentType: "application/json",
    lines: Stream.fromQueue(lines).pipe(
      Stream.onStart(Queue.offer(life, "opened")),
      Stream.ensuring(Queue.offer(life, "closed"))
    )
  }
  return { lines, life, answer }
})

export const statusOf = (text: string): { code: number; reason: string; message: string; kind: string } =>
  JSON.parse(text)

/** Splits the responses of a raw connection: status codes and bodies. */
export const answersOf = (text: string): ReadonlyArray<{ readonly code: number; readonly body: string }> =>
  text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== "")
    .map((part) => ({ code: Number(part.slice(9, 12)), body: part.slice(part.indexOf("\r\n\r\n") + 4) }))

export const bearer = `authorization: Bearer ${Redacted.value(token)}\r\n`
