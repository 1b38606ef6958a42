import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Agent } from "node:https"
import { gunzipSync } from "node:zlib"
import type { ApiResponse } from "../../../src/apiserver/Api.ts"
import {
  answersOf,
  bearer,
  call,
  ok,
  portInUse,
  rawly,
  rawSocket,
  scriptedWatch,
  serve,
  statusOf,
  stream
} from "./harness.ts"

const echo = () => Effect.succeed(ok("{}"))

const limit = 3 * 1024 * 1024

it.live("passes request and user to the API", () =>
  Effect.gen(function* () {
    const server = yield* serve(echo)
    const reply = yield* call(server, {
      method: "POST",
      path: "/api/v1/namespaces/a%20b/pods?labelSelector=a%3Db&x=1&x=2",
      headers: { "Content-Type": "application/json", "X-Odd": "1" },
      body: '{"ä":1}'
    })
    assert.deepStrictEqual([reply.status, reply.text, reply.headers["content-length"]], [200, "{}", "2"])
    const request = server.calls[0]!
    assert.strictEqual(request.method, "POST")
    assert.strictEqual(request.path, "/api/v1/namespaces/a%20b/pods")
    assert.deepStrictEqual(
      [...request.query],
      [
        ["labelSelector", "a=b"],
        ["x", "1"],
        ["x", "2"]
      ]
    )
    assert.strictEqual(request.body, '{"ä":1}')
    assert.strictEqual(request.headers["x-odd"], "1")
    assert.deepStrictEqual(request.user, { name: "admin", groups: ["system:masters", "system:authenticated"] })
  })
)

it.live("returns 401 without valid credentials, and serves health without any", () =>
  Effect.gen(function* () {
    const server = yield* serve(echo)
    for (const authorization of ["", "Bearer", "Bearer wrong", "Bearer correct", "Basic Y29ycmVjdC1ob3JzZQ=="]) {
      const reply = yield* call(server, { headers: { authorization }, method: "POST", body: "{}" })
      assert.strictEqual(reply.status, 401, authorization)
      assert.deepInclude(statusOf(reply.text), {
        kind: "Status",
        code: 401,
        reason: "Unauthorized",
        message: "Unauthorized"
      })
    }
    assert.strictEqual((yield* call(server, { path: "/livez", headers: { authorization: "Bearer no" } })).status, 401)
    assert.strictEqual(server.calls.length, 0)
    const [health] = answersOf(yield* rawly(server, "GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
    assert.strictEqual(health?.code, 200)
    assert.deepStrictEqual(server.calls[0]?.user, { name: "system:anonymous", groups: ["system:unauthenticated"] })
    const [version] = answersOf(yield* rawly(server, "GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
    assert.strictEqual(version?.code, 401)
  })
)

it.live("limits bodies to 3 MiB, declared or not, and keeps the connection", () =>
  Effect.gen(function* () {
    const server = yield* serve((request) => Effect.succeed(ok(String(request.body.length))))
    const agent = new Agent({ ca: server.ca, keepAlive: true, maxSockets: 1 })
    yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
    const post = (size: number, headers: Record<string, string>) =>
      call(server, { method: "POST", body: Buffer.alloc(size, " "), headers, agent })
    const chunked = { "transfer-encoding": "chunked" }
    for (const headers of [{}, chunked]) {
      const small = yield* post(limit, headers)
      assert.deepStrictEqual([small.status, small.text], [200, String(limit)])
      const large = yield* post(limit + 1, headers)
      assert.strictEqual(large.status, 413)
      assert.deepInclude(statusOf(large.text), { code: 413, reason: "RequestEntityTooLarge" })
    }
    assert.strictEqual(server.calls.length, 2)
    assert.strictEqual(server.stats().connections, 1)
  })
)

it.live("rejects malformed targets with a Status and accepts the absolute form", () =>
  Effect.gen(function* () {
    const server = yield* serve(echo)
    const ask = (target: string) =>
      Effect.map(
        rawly(server, `GET ${target} HTTP/1.1\r\nhost: x\r\n${bearer}connection: close\r\n\r\n`),
        (text) => answersOf(text)[0]
      )
    for (const target of ["/api/%", "/api/%zz", "/%ff", "/api?x=%", "/api?%c3%28=1", "*", "//%e0%80"]) {
      const answer = yield* ask(target)
      assert.strictEqual(answer?.code, 400, target)
      assert.deepInclude(statusOf(answer?.body ?? ""), { kind: "Status", code: 400, reason: "BadRequest" })
    }
    assert.strictEqual((yield* ask("https://127.0.0.1/api/v1/pods?a=b"))?.code, 200)
    assert.strictEqual(server.calls[0]?.path, "/api/v1/pods")
  })
)

const refused: ReadonlyArray<readonly [title: string, text: string, codes: Array<number>]> = [
  ["what is not HTTP", "hello\r\n\r\n", [400]],
  ["a bad header", `GET / HTTP/1.1\r\nhost: x\r\nbad header: 1\r\n\r\n`, [400]],
  ["a missing host", `GET /api HTTP/1.1\r\n${bearer}connection: close\r\n\r\n`, [400]],
  ["headers without end", `GET / HTTP/1.1\r\nhost: x\r\na: ${"b".repeat(1 << 21)}\r\n\r\n`, [431]],
  ["an unknown expectation", `GET / HTTP/1.1\r\nhost: x\r\nexpect: gold\r\nconnection: close\r\n\r\n`, [417]],
  ["CONNECT", `CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n`, [405]],
  [
    "a length and chunks at once",
    `POST /api HTTP/1.1\r\nhost: x\r\n${bearer}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400]
  ],
  [
    "a malformed chunk",
    `POST /api HTTP/1.1\r\nhost: x\r\n${bearer}transfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n`,
    [400]
  ],
  ["noise after a good request", `GET /api HTTP/1.1\r\nhost: x\r\n${bearer}\r\n\x01\x02`, [200, 400]]
]

for (const [title, text, codes] of refused) {
  it.live(`returns a Status for ${title}`, () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      const answers = answersOf(yield* rawly(server, text))
      assert.deepStrictEqual(
        answers.map((answer) => answer.code),
        codes
      )
      const last = answers.at(-1)
      assert.deepInclude(statusOf(last?.body ?? ""), { kind: "Status", code: codes.at(-1) ?? 0 })
      assert.strictEqual((yield* call(server)).status, 200)
    })
  )
}

it.live("times out on incomplete headers", () =>
  Effect.gen(function* () {
    const server = yield* serve(echo, { headersTimeout: 50 })
    const answers = answersOf(yield* rawly(server, "GET / HTTP/1.1\r\nhost: x\r\n"))
    assert.deepStrictEqual(
      answers.map((answer) => [answer.code, statusOf(answer.body).reason]),
      [[408, "Timeout"]]
    )
  })
)

it.live("compresses large responses when the client accepts it", () =>
  Effect.gen(function* () {
    const large = JSON.stringify({ text: "x".repeat(200_000) })
    const server = yield* serve((request) => Effect.succeed(ok(request.path === "/large" ? large : "{}")))
    const headers = { "accept-encoding": "deflate, gzip;q=0.5" }
    const zipped = yield* call(server, { path: "/large", headers })
    assert.strictEqual(zipped.headers["content-encoding"], "gzip")
    assert.strictEqual(gunzipSync(zipped.body).toString(), large)
    for (const encoding of ["identity", "gzip;q=0", "br"]) {
      const plain = yield* call(server, { path: "/large", headers: { "accept-encoding": encoding } })
      assert.deepStrictEqual([plain.headers["content-encoding"], plain.text], [undefined, large])
    }
    assert.strictEqual((yield* call(server, { path: "/small", headers })).headers["content-encoding"], undefined)
  })
)

it.live("converts YAML to JSON, and rejects invalid YAML", () =>
  Effect.gen(function* () {
    const server = yield* serve(echo)
    const post = (body: string, contentType: string) =>
      call(server, { method: "POST", body, headers: { "content-type": contentType } })
    yield* post("mode: 0644\nport: 80:80\non: 2020-01-01\n__proto__: {a: 1}\n", "application/yaml; charset=utf-8")
    assert.strictEqual(server.calls[0]?.headers["content-type"], "application/json")
    assert.strictEqual(server.calls[0]?.body, '{"mode":420,"port":"80:80","true":"2020-01-01","__proto__":{"a":1}}')
    yield* post("kind: Pod", "application/apply-patch+yaml")
    yield* post('{"kind":"Pod"}', "application/apply-patch+yaml")
    for (const request of server.calls.slice(1)) {
      assert.deepStrictEqual(
        [request.headers["content-type"], request.body],
        ["application/apply-patch+yaml", '{"kind":"Pod"}']
      )
    }
    assert.strictEqual(server.calls.length, 3)
    const bombs =
      "a: &a [x,x,x,x,x,x,x,x,x]\n" +
      "bcdefgh"
        .split("")
        .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[i]}`).join(",")}]\n`)
        .join("")
    for (const bad of ["a: [", "a: 1\n--- \nb: 2", "\t- x: {", bombs]) {
      const reply = yield* post(bad, "application/yaml")
      assert.strictEqual(reply.status, 400, bad)
      assert.deepInclude(statusOf(reply.text), { reason: "BadRequest" })
    }
    assert.strictEqual(server.calls.length, 3)
  })
)

it.live("returns a Status for a defect of the API, and keeps serving", () =>
  Effect.gen(function* () {
    const server = yield* serve((request) => (request.path === "/bad" ? Effect.die(new Error("boom")) : echo()))
    const reply = yield* call(server, { path: "/bad" })
    assert.strictEqual(reply.status, 500)
    assert.deepInclude(statusOf(reply.text), { code: 500, reason: "InternalError" })
    assert.notInclude(reply.text, "boom")
    assert.strictEqual((yield* call(server)).status, 200)
  })
)

it.live("replaces characters that headers do not allow", () =>
  Effect.gen(function* () {
    const server = yield* serve(() =>
      Effect.succeed<ApiResponse>({
        _tag: "Answer",
        status: 200,
        contentType: "text/plain",
        body: "ok",
        headers: { warning: '299 - "日\n"' }
      })
    )
    const reply = yield* call(server)
    assert.deepStrictEqual([reply.status, reply.headers.warning], [200, '299 - "??"'])
  })
)

it.live("streams a watch line by line and interrupts it when the client disconnects", () =>
  Effect.gen(function* () {
    const watch = yield* scriptedWatch
    const server = yield* serve(() => Effect.succeed(watch.answer))
    const client = yield* stream(server)
    assert.strictEqual(client.status, 200) // the head arrives before the first line
    assert.strictEqual(yield* Queue.take(watch.life), "opened")
    yield* Queue.offer(watch.lines, "one")
    assert.strictEqual(yield* client.next, "one\n")
    yield* Queue.offerAll(watch.lines, ["two", "three"])
    assert.strictEqual(yield* client.next, "two\nthree\n")
    assert.deepStrictEqual(server.stats(), { connections: 1, requests: 1, watches: 1 })
    yield* client.abort
    assert.strictEqual(yield* Queue.take(watch.life), "closed")
  })
)

it.live("ends the response when the watch ends, and keeps the connection", () =>
  Effect.gen(function* () {
    const watch = yield* scriptedWatch
    const server = yield* serve((request) => (request.path === "/watch" ? Effect.succeed(watch.answer) : echo()))
    const agent = new Agent({ ca: server.ca, keepAlive: true, maxSockets: 1 })
    yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
    const client = yield* stream(server, { path: "/watch", agent })
    yield* Queue.offer(watch.lines, "one")
    yield* Queue.end(watch.lines)
    assert.strictEqual(yield* client.next, "one\n")
    assert.strictEqual(yield* client.next, undefined)
    assert.strictEqual((yield* call(server, { agent })).status, 200)
    assert.strictEqual(server.stats().connections, 1)
  })
)

it.live("streams a text as it is, and interrupts it when the client disconnects", () =>
  Effect.gen(function* () {
    const closed = yield* Queue.unbounded<string>()
    const text = Stream.make("one\n", "half").pipe(
      Stream.concat(Stream.never),
      Stream.ensuring(Queue.offer(closed, "closed"))
    )
    const server = yield* serve(() => Effect.succeed<ApiResponse>({ _tag: "Text", contentType: "text/plain", text }))
    const client = yield* stream(server)
    assert.strictEqual(client.status, 200)
    assert.strictEqual(yield* client.next, "one\nhalf")
    yield* client.abort
    assert.strictEqual(yield* Queue.take(closed), "closed")
  })
)

it.live.each(["Watch", "Text"] as const)("applies back-pressure for a slow reader of a %s", (tag) =>
  Effect.gen(function* () {
    const line = "x".repeat((1 << 20) - 1)
    let produced = 0
    const lines = Stream.fromEffectRepeat(Effect.sync(() => (produced++, line)))
    const answer: ApiResponse =
      tag === "Watch"
        ? { _tag: tag, contentType: "application/json", lines }
        : { _tag: tag, contentType: "text/plain", text: lines }
    const server = yield* serve(() => Effect.succeed(answer))
    const socket = yield* rawSocket(server)
    let received = 0
    yield* Effect.promise(
      () =>
        new Promise<void>((resolve) => {
          socket.on("data", (chunk: Buffer) => {
            received += chunk.length
            if (received >= 8 << 20) resolve()
          })
          socket.write(`GET /api HTTP/1.1\r\nhost: x\r\n${bearer}\r\n`)
        })
    )
    // Only as much as fits into the buffers of two sockets; without back-pressure it would be hundreds by now.
    assert.isBelow(produced - (received >> 20), 32)
  })
)

it.live("interrupts a request whose client disconnects", () =>
  Effect.gen(function* () {
    const life = yield* Queue.unbounded<string>()
    const server = yield* serve(() =>
      Queue.offer(life, "started").pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Queue.offer(life, "interrupted"))
      )
    )
    const socket = yield* rawSocket(server)
    socket.write(`GET /api HTTP/1.1\r\nhost: x\r\n${bearer}\r\n`)
    assert.strictEqual(yield* Queue.take(life), "started")
    socket.destroy()
    assert.strictEqual(yield* Queue.take(life), "interrupted")
  })
)

it.live("shuts down in order: watches end cleanly, responses in flight complete, the port is free", () =>
  Effect.gen(function* () {
    const watch = yield* scriptedWatch
    const started = yield* Queue.unbounded<string>()
    const go = yield* Queue.unbounded<void>()
    const scope = yield* Scope.make()
    const server = yield* serve((request) =>
      request.path === "/watch"
        ? Effect.succeed(watch.answer)
        : Queue.offer(started, "call").pipe(Effect.andThen(Queue.take(go)), Effect.as(ok("late")))
    ).pipe(Scope.provide(scope))
    const client = yield* stream(server, { path: "/watch" })
    const idle = yield* rawSocket(server)
    const late = yield* Effect.forkChild(call(server))
    yield* Queue.take(started)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    assert.strictEqual(yield* client.next, undefined)
    assert.deepStrictEqual(yield* Queue.takeN(watch.life, 2), ["opened", "closed"])
    yield* Queue.offer(go, undefined)
    const reply = yield* Fiber.join(late)
    assert.deepStrictEqual([reply.status, reply.text, reply.headers.connection], [200, "late", "close"])
    yield* Fiber.join(closing)
    assert.isTrue(idle.destroyed || idle.readableEnded || !idle.readable)
    const again = yield* serve(echo, { port: server.port })
    assert.strictEqual((yield* call(again)).status, 200)
  })
)

it.live("shuts down within the drain limit while a request hangs", () =>
  Effect.gen(function* () {
    const started = yield* Queue.unbounded<string>()
    const scope = yield* Scope.make()
    const server = yield* serve(() => Effect.andThen(Queue.offer(started, "call"), Effect.never), {
      drainLimit: "20 millis"
    }).pipe(Scope.provide(scope))
    const socket = yield* rawSocket(server)
    socket.write(`GET /api HTTP/1.1\r\nhost: x\r\n${bearer}\r\n`)
    yield* Queue.take(started)
    yield* Scope.close(scope, Exit.void)
    assert.strictEqual(server.stats().requests, 0)
  })
)

it.live("fails with one sentence when the port is in use", () =>
  Effect.gen(function* () {
    const port = yield* portInUse
    const error = yield* Effect.flip(serve(echo, { port }))
    assert.strictEqual(error._tag, "ListenError")
    assert.match(error.message, new RegExp(`^port ${port} on 127\\.0\\.0\\.1 is already in use: [^\n]+$`))
  })
)
