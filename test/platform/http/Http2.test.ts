import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { constants, type Http2ServerRequest } from "node:http2"
import type { buildConnector } from "undici"
import { Endpoint } from "../../../src/layers/Endpoint.ts"
import type { Request, Transport } from "../../../src/layers/Transport.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import * as Http2 from "../../../src/platform/http/Http2.ts"
import { answer, type Handler, start } from "../../support/httpsServer.ts"
import { authority } from "../../support/tls.ts"

const ca = await authority("the test authority")
const tls = { ...(await ca.issue("server")), ca: ca.cert }

const get = (path: string): Request => ({ method: "GET", path, context: { verb: "get", path } })

const line = (name: string) => `${JSON.stringify({ type: "ADDED", object: { metadata: { name } } })}\n`

/** A server with HTTP/2 that allows so many streams for each connection, and a transport to it. */
const made = Effect.fnUntraced(function* (handler: Handler, maxConcurrentStreams = 100) {
  const server = yield* start(handler, { ...tls, settings: { maxConcurrentStreams } }, "HTTP/2")
  const endpoint = Endpoint.fixed({ server: server.url, tls: { ca: ca.cert } })
  return { server, transport: yield* HttpTransport.make(endpoint) }
})

/** Watches that many paths, and returns when each has had an event. */
const watching = (transport: Transport["Service"], count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => `/watch/${index}`),
    (path) =>
      Effect.gen(function* () {
        const isOpen = yield* Deferred.make<void>()
        const run = Stream.runForEach(transport.watch(get(path)), () => Deferred.succeed(isOpen, undefined))
        const fiber = yield* Effect.forkScoped(Effect.result(run))
        yield* Deferred.await(isOpen)
        return fiber
      }),
    { concurrency: "unbounded" }
  )

/** Answers watches with one event, and everything else with an object. */
const serving: Handler = (request, response) => {
  if (request.url?.startsWith("/watch") !== true) return answer(response, 200, {})
  return response.write(line("a"))
}

describe("reads of a server with HTTP/2", () => {
  it.live("share one connection, and writes have others", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* made(serving)
      yield* watching(transport, 50)
      for (let i = 0; i < 10; i++) yield* transport.send(get("/list"))
      assert.strictEqual(server.accepted, 1)
      yield* transport.send({ ...get("/pods"), method: "POST", body: {} })
      assert.strictEqual(server.accepted, 2)
    })
  )

  it.live("open another connection where the server allows no more streams", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* made(serving, 2)
      yield* watching(transport, 5)
      assert.strictEqual(server.accepted, 3)
    })
  )

  it.live("fail where it allows none", () =>
    Effect.gen(function* () {
      const { transport } = yield* made(serving, 0)
      assert.strictEqual((yield* Effect.flip(transport.send(get("/list")))).reason._tag, "Network")
    })
  )

  it.live("use another connection after GOAWAY, and those on the old one end as usual", () =>
    Effect.gen(function* () {
      let first: ServerResponse | undefined
      const { server, transport } = yield* made((request, response) => {
        if (request.url !== "/watch/0") return serving(request, response, "")
        first = response
        response.write(line("a"))
        return (request as unknown as Http2ServerRequest).stream.session?.goaway()
      })
      const [fiber] = yield* watching(transport, 1)
      yield* transport.send(get("/list"))
      assert.strictEqual(server.accepted, 2)
      first?.end(line("b"))
      assert.strictEqual((yield* Fiber.join(fiber!))._tag, "Success")
    })
  )

  it.live("are sent again where the server has refused them, but not for ever", () =>
    Effect.gen(function* () {
      let refusals = 2
      const { server, transport } = yield* made((request, response) => {
        if (refusals-- <= 0) return answer(response, 200, {})
        return (request as unknown as Http2ServerRequest).stream.close(constants.NGHTTP2_REFUSED_STREAM)
      })
      assert.strictEqual((yield* transport.send(get("/list"))).status, 200)
      assert.strictEqual(server.requests.length, 3)
      refusals = Infinity
      assert.strictEqual((yield* Effect.flip(transport.send(get("/list")))).reason._tag, "Network")
    })
  )

  it.live("are not sent again where a part of the response has arrived", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* made((request, response) => {
        response.write(line("a"), () =>
          (request as unknown as Http2ServerRequest).stream.close(constants.NGHTTP2_REFUSED_STREAM)
        )
      })
      const seen: Array<string> = []
      const watch = Stream.runForEach(transport.watch(get("/watch")), ({ type }) => Effect.sync(() => seen.push(type)))
      assert.strictEqual((yield* Effect.flip(watch)).reason._tag, "Network")
      assert.isAtMost(seen.length, 1)
      assert.strictEqual(server.requests.length, 1)
    })
  )

  it.live("that wait for a connection are ended before the sender is closed", () =>
    Effect.gen(function* () {
      const make = yield* Http2.make
      let answered: buildConnector.Callback | undefined
      const connect: buildConnector.connector = (_, callback) => (answered = callback)
      const origin = "https://127.0.0.1:1"
      const sender = make({ origin, connect, http1: { dispatch: () => assert.fail("HTTP/1.1") } })
      const ended: Array<string> = []
      const handler: Http2.Handler = {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: (_, error) => ended.push(error.message)
      }
      const dispatch = () => sender.dispatch({ origin, method: "GET", path: "/list" }, handler)
      dispatch()
      const closed = sender.close().then(() => ended.push("closed"))
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      answered?.(new Error("refused"), null)
      yield* Effect.promise(() => closed)
      assert.deepStrictEqual(ended, ["refused", "closed"])
      // Without an answer of the server.
      dispatch()
      yield* Effect.promise(sender.destroy)
    })
  )

  it.live("go on while a response is not read", () =>
    Effect.gen(function* () {
      const { transport } = yield* made((request, response) => {
        if (request.url !== "/full") return answer(response, 200, { text: "x".repeat(64 * 1024) })
        // More than the client keeps.
        return response.end(line("x".repeat(1000)).repeat(8 * 1024))
      })
      const isOpen = yield* Deferred.make<void>()
      const full = Stream.runForEach(transport.watch(get("/full")), () =>
        Effect.andThen(Deferred.succeed(isOpen, undefined), Effect.never)
      )
      yield* Effect.forkScoped(full)
      yield* Deferred.await(isOpen)
      for (let i = 0; i < 100; i++) assert.strictEqual((yield* transport.send(get("/list"))).status, 200)
    })
  )

  it.effect("close their connection when nothing has used it for half a minute", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* made(serving)
      yield* transport.send(get("/list"))
      yield* TestClock.adjust("29 seconds")
      yield* transport.send(get("/list"))
      assert.strictEqual(server.accepted, 1)
      yield* TestClock.adjust("46 seconds")
      yield* Effect.promise(server.quiet)
      yield* transport.send(get("/list"))
      assert.strictEqual(server.accepted, 2)
    })
  )

  it.live("fail with the connection, and the next ones have another", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* made(serving)
      const fibers = yield* watching(transport, 3)
      for (const socket of server.sockets) socket.destroy()
      for (const fiber of fibers) {
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "none", "Network")
      }
      yield* watching(transport, 1)
      assert.strictEqual(server.accepted, 2)
    })
  )
})
