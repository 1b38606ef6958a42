import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { request } from "node:http"
import { connect } from "node:net"
import { type HttpRequest, type Handler, text } from "../../../src/layers/http/handler.ts"
import * as Listener from "../../../src/platform/listener/Listener.ts"
import { echo, held } from "./handlers.ts"

const loopback = { host: "127.0.0.1", port: 0 }
const options = (handle: Handler, address = loopback) => ({ name: "probes", setting: "probe-address", address, handle })

const get = (port: number, path = "/", init: RequestInit = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return { status: response.status, headers: response.headers, body: await response.text() }
  })

describe("the listener", () => {
  it.live("passes path, query and bearer token to the handler, and responds with its text", () =>
    Effect.gen(function* () {
      const seen: Array<HttpRequest> = []
      const { port } = yield* Listener.listen(
        options((request) => Effect.sync(() => (seen.push(request), text(201, "yes"))))
      )
      const answer = yield* get(port, "/a%20b?verbose&exclude=x&exclude=y", {
        headers: { authorization: "Bearer secret" }
      })
      assert.deepStrictEqual([answer.status, answer.body], [201, "yes"])
      assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
      assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
      const [received] = seen
      assert.isDefined(received)
      if (received === undefined) return
      assert.deepStrictEqual(
        [received.path, received.query.has("verbose"), received.query.getAll("exclude")],
        ["/a b", true, ["x", "y"]]
      )
      assert.strictEqual(received.bearer === undefined ? "" : Redacted.value(received.bearer), "secret")
      const head = yield* get(port, "/", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.body, head.headers.get("content-length")], [201, "", "3"])
    }).pipe(Effect.scoped)
  )

  it.live("rejects other methods and malformed paths; a handler that dies causes a 500", () =>
    Effect.gen(function* () {
      const { port } = yield* Listener.listen(options(() => Effect.die(new Error("oops"))))
      const post = yield* get(port, "/", { method: "POST", body: "x" })
      assert.deepStrictEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"])
      assert.strictEqual((yield* get(port, "/%zz")).status, 400)
      const broken = yield* get(port)
      assert.deepStrictEqual([broken.status, broken.body], [500, "Internal Server Error\n"])
    }).pipe(Effect.scoped)
  )

  it.live("rejects a request over loopback with a foreign Host header", () =>
    Effect.gen(function* () {
      const handled: Array<string> = []
      const handle: Handler = ({ path }) => Effect.sync(() => (handled.push(path), text(200, "")))
      const { port } = yield* Listener.listen(options(handle))
      const status = (headers: Readonly<Record<string, string>>) =>
        Effect.callback<number>((resume) => {
          request({ port, headers }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode ?? 0))
          }).end()
        })
      const host = `localhost:${port}`
      assert.strictEqual(yield* status({ host }), 200)
      assert.strictEqual(yield* status({ host, "sec-fetch-site": "none" }), 200)
      assert.strictEqual(yield* status({ host, "sec-fetch-site": "same-origin" }), 200)
      assert.strictEqual(handled.length, 3)
      // A page whose host name resolves to 127.0.0.1, and a page that sends a request without reading the response.
      assert.strictEqual(yield* status({ host: `evil.example:${port}` }), 403)
      assert.strictEqual(yield* status({ host, "sec-fetch-site": "cross-site" }), 403)
      assert.strictEqual(handled.length, 3)
    }).pipe(Effect.scoped)
  )

  it.live("accepts a configured method, with a short body", () =>
    Effect.gen(function* () {
      const handle: Handler = ({ body, method }) =>
        Effect.map(body, (said) => (typeof said === "string" ? text(200, `${method} ${said}`) : said))
      const { port } = yield* Listener.listen({ ...options(handle), methods: ["PUT"] })
      const put = (body: string) => get(port, "/", { method: "PUT", body })
      assert.strictEqual((yield* put("5")).body, "PUT 5")
      assert.strictEqual((yield* put("x".repeat(1024))).status, 200)
      assert.strictEqual((yield* put("x".repeat(1025))).status, 413)
      assert.strictEqual((yield* put("x".repeat(1_000_000))).status, 413)
      const post = yield* get(port, "/", { method: "POST", body: "x" })
      assert.deepStrictEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD, PUT"])
    }).pipe(Effect.scoped)
  )

  it.effect("responds with a 408 to a body that does not arrive, and closes the connection", () =>
    Effect.gen(function* () {
      const { handle, reading } = yield* echo
      const { port } = yield* Listener.listen({ ...options(handle), methods: ["PUT"] })
      const said = yield* Effect.forkChild(
        Effect.callback<string>((resume) => {
          const socket = connect(port, "127.0.0.1", () =>
            socket.write("PUT / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n5")
          )
          let all = ""
          socket.setEncoding("utf8").on("data", (part) => (all += part))
          // The server closes it, because a client could go on sending otherwise.
          socket.once("close", () => resume(Effect.succeed(all)))
        }),
        { startImmediately: true }
      )
      yield* reading
      yield* TestClock.adjust("5 seconds")
      assert.match(yield* Fiber.join(said), /^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n[^]*not arrived in time\n$/i)
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection of a body that the handler does not read", () =>
    Effect.gen(function* () {
      const { port } = yield* Listener.listen(options(() => Effect.succeed(text(200, ""))))
      const post = yield* get(port, "/", { method: "POST", body: "x".repeat(1_000_000) })
      assert.deepStrictEqual([post.status, post.headers.get("connection")], [405, "close"])
    }).pipe(Effect.scoped)
  )

  it.live("sends a stream as fast as the client reads, and interrupts it when the client disconnects", () =>
    Effect.gen(function* () {
      let made = 0
      const gone = yield* Deferred.make<void>()
      const chunk = new Uint8Array(65_536)
      const endless = Stream.fromEffectRepeat(Effect.sync(() => (made++, chunk)))
      const body = Stream.ensuring(endless, Deferred.succeed(gone, undefined))
      const { port } = yield* Listener.listen(options(() => Effect.succeed({ status: 200, body })))
      const abort = new AbortController()
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/`, { signal: abort.signal }))
      assert.isNull(response.headers.get("content-length"))
      for (let turn = 0; turn < 30; turn++) yield* get(port, "/", { method: "HEAD" })
      assert.isBelow(made, 500, "it does not run ahead of the reader")
      abort.abort()
      yield* Deferred.await(gone)
    }).pipe(Effect.scoped)
  )

  it.live("an address in use is an error of one sentence that names the setting", () =>
    Effect.gen(function* () {
      const { port } = yield* Listener.listen(options(() => Effect.succeed(text(200, ""))))
      const error = yield* Effect.flip(
        Listener.listen(options(() => Effect.succeed(text(200, "")), { host: "127.0.0.1", port }))
      )
      assert.isTrue(error.isBusy)
      assert.strictEqual(
        error.message,
        `cannot serve probes on 127.0.0.1:${port}: it is already in use; choose another address with --probe-address, or 0 for none`
      )
    }).pipe(Effect.scoped)
  )

  it.live("closing lets a response in flight finish, and refuses new requests", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { handle, received, release } = yield* held
      const { port } = yield* Scope.provide(Listener.listen(options(handle)), scope)
      const call = yield* Effect.forkChild(get(port), { startImmediately: true })
      yield* received
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      const refused = yield* Effect.exit(
        Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }))
      )
      assert.isTrue(Exit.isFailure(refused))
      yield* release
      assert.strictEqual((yield* Fiber.join(call)).body, "late")
      yield* Fiber.join(closing)
    })
  )
})
