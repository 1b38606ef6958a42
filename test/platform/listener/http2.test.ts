/** One address, two protocols: HTTP/2 for clients that negotiate it if it is enabled, HTTP/1.1 for all others. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { connect as connect2 } from "node:http2"
import { request } from "node:https"
import { connect, type TLSSocket } from "node:tls"
import { type Handler, text } from "../../../src/layers/http/handler.ts"
import * as Listener from "../../../src/platform/listener/Listener.ts"
import { authority, type Pair } from "../../support/tls.ts"
import { echo, held } from "./handlers.ts"

const ca = await authority("the test authority")
const pair = await ca.issue("server")
const certificateOf = ({ cert, key }: Pair) => ({ cert, key: Redacted.make(key) })

const served = (handle: Handler, http2 = true, methods: ReadonlyArray<string> = []) =>
  Listener.listen({
    name: "metrics",
    setting: "metrics-bind-address",
    address: { host: "127.0.0.1", port: 0 },
    certificate: certificateOf(pair),
    http2,
    methods,
    handle
  })

interface Answered {
  readonly status: number
  readonly body: string
}

/** Sends requests in one HTTP/2 session, which closes at the end. */
const session = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const client = connect2(`https://127.0.0.1:${port}`, { ca: ca.cert })
      client.on("error", () => undefined)
      return client
    }),
    (client) => Effect.sync(() => client.destroy())
  ).pipe(
    Effect.map((client) => ({
      client,
      ask: (path: string, method = "GET", body?: string) =>
        Effect.promise(
          () =>
            new Promise<Answered>((resolve, reject) => {
              const stream = client.request({ ":path": path, ":method": method, authorization: "Bearer t" })
              let [status, text] = [0, ""]
              stream.on("response", (headers) => (status = Number(headers[":status"])))
              stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
              stream.on("end", () => resolve({ status, body: text })).on("error", reject)
              stream.end(body)
            })
        )
    }))
  )

const classic = (port: number, path = "/") =>
  Effect.promise(
    () =>
      new Promise<Answered & { readonly version: string }>((resolve, reject) => {
        request({ host: "127.0.0.1", port, path, ca: ca.cert, agent: false }, (response) => {
          let body = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body, version: response.httpVersion }))
        })
          .on("error", reject)
          .end()
      })
  )

/** The protocol that the server selects by ALPN. */
const picked = (port: number) =>
  Effect.promise(
    () =>
      new Promise<string | false | null>((resolve, reject) => {
        const socket: TLSSocket = connect(
          { host: "127.0.0.1", port, ca: ca.cert, ALPNProtocols: ["h2", "http/1.1"] },
          () => {
            resolve(socket.alpnProtocol)
            socket.destroy()
          }
        ).on("error", reject)
      })
  )

describe("HTTP/2", () => {
  it.effect("responds with a 408 to a body that does not arrive, and closes its stream but not the connection", () =>
    Effect.gen(function* () {
      const { handle, reading } = yield* echo
      const { port } = yield* served(handle, true, ["PUT"])
      const { ask, client } = yield* session(port)
      const stream = client.request({ ":path": "/", ":method": "PUT" })
      stream.write("x")
      const closed = yield* Effect.forkChild(
        Effect.callback<ReadonlyArray<unknown>>((resume) => {
          let status: unknown
          stream.on("response", (headers) => (status = headers[":status"]))
          // The client does not end the stream: the server does.
          stream.once("close", () => resume(Effect.succeed([status, stream.rstCode])))
          stream.resume()
        }),
        { startImmediately: true }
      )
      yield* reading
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(closed), [408, 0])
      assert.deepStrictEqual(yield* ask("/", "PUT", "whole"), { status: 200, body: "whole" })
    }).pipe(Effect.scoped)
  )

  it.live("is negotiated only if it is enabled", () =>
    Effect.gen(function* () {
      const ok: Handler = () => Effect.succeed(text(200, "ok"))
      assert.strictEqual(yield* picked((yield* served(ok)).port), "h2")
      assert.strictEqual(yield* picked((yield* served(ok, false)).port), "http/1.1")
    }).pipe(Effect.scoped)
  )

  it.live("handles path, query, bearer, body, HEAD, methods, streams and defects like HTTP/1.1", () =>
    Effect.gen(function* () {
      const handle: Handler = ({ bearer, body, method, path, query }) => {
        if (path === "/broken") return Effect.die(new Error("oops"))
        if (path === "/stream") {
          const chunks = Array.from({ length: 64 }, () => Buffer.alloc(16_384, "x"))
          return Effect.succeed({ status: 200, body: Stream.fromIterable(chunks) })
        }
        const token = bearer === undefined ? "" : Redacted.value(bearer)
        return Effect.map(method === "PUT" ? body : Effect.succeed(""), (said) =>
          typeof said === "string" ? text(200, `${method} ${path} ${query.get("q")} ${token} ${said}`) : said
        )
      }
      const { port } = yield* served(handle, true, ["PUT"])
      const { ask } = yield* session(port)
      assert.deepStrictEqual(yield* ask("/a%20b?q=1"), { status: 200, body: "GET /a b 1 t " })
      assert.deepStrictEqual(yield* ask("/v", "PUT", "5"), { status: 200, body: "PUT /v null t 5" })
      assert.deepStrictEqual(yield* ask("/", "HEAD"), { status: 200, body: "" })
      assert.strictEqual((yield* ask("/", "DELETE")).status, 405)
      assert.strictEqual((yield* ask("/broken")).status, 500)
      assert.strictEqual((yield* ask("/stream")).body.length, 64 * 16_384)
      assert.deepStrictEqual(yield* classic(port, "/c?q=2"), { status: 200, body: "GET /c 2  ", version: "1.1" })
    }).pipe(Effect.scoped)
  )

  it.live("closing lets a response in flight finish and ends the sessions", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { handle, received, release } = yield* held
      const { port } = yield* Scope.provide(served(handle), scope)
      const { ask, client } = yield* session(port)
      const closed = new Promise<void>((resolve) => void client.once("close", () => resolve()))
      const call = yield* Effect.forkChild(ask("/"), { startImmediately: true })
      yield* received
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* release
      assert.strictEqual((yield* Fiber.join(call)).body, "late")
      yield* Fiber.join(closing)
      yield* Effect.promise(() => closed)
    }).pipe(Effect.scoped)
  )

  it.live("a new certificate is used for new connections", () =>
    Effect.gen(function* () {
      const { port, replaceUnsafe } = yield* served(() => Effect.succeed(text(200, "ok")))
      const name = Effect.promise(
        () =>
          new Promise<string>((resolve) => {
            const socket = connect({ host: "127.0.0.1", port, ca: ca.cert, ALPNProtocols: ["h2"] }, () => {
              resolve(String(socket.getPeerCertificate().subject.CN))
              socket.destroy()
            })
          })
      )
      assert.strictEqual(yield* name, "server")
      const next = yield* Effect.promise(() => ca.issue("renewed"))
      replaceUnsafe(certificateOf(next))
      assert.strictEqual(yield* name, "renewed")
    }).pipe(Effect.scoped)
  )
})
