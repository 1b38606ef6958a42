import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { connect, createServer as createTcpServer, type AddressInfo, Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { vi } from "vitest"
import { inspect } from "node:util"
import * as ApiError from "../../src/kube/ApiError.ts"
import { type CredentialsError, Endpoint, type Identity } from "../../src/layers/Endpoint.ts"
import * as RequestMetrics from "../../src/platform/http/requestMetrics.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import type { Request, Transport } from "../../src/layers/Transport.ts"
import { type Handler, start, type Version, versions } from "../support/httpsServer.ts"
import { authority } from "../support/tls.ts"

const get = (path: string, rest: Partial<Request> = {}): Request => ({
  method: "GET",
  path,
  context: { verb: "get", path, resource: "pods" },
  ...rest
})

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

const status = (code: number, reason: string) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  code,
  reason,
  message: reason
})

const ca = await authority("the test authority")
const serverPair = await ca.issue("server")
const tls = { ...serverPair, ca: ca.cert }

/** A transport to an HTTPS server that answers with `handler`. */
const https = Effect.fnUntraced(function* (handler: Handler, version?: Version) {
  const server = yield* start(handler, tls, version)
  const endpoint = Endpoint.fixed({ server: server.url, tls: { ca: ca.cert }, token: "s3cret-token" })
  return { server, transport: yield* HttpTransport.make(endpoint) }
})

const watchLine = (type: string, name: string) =>
  `${JSON.stringify({ type, object: { kind: "Pod", metadata: { name } } })}\n`

describe("the metrics of requests", () => {
  it.live("count each response by its code, and a request without one as an error", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* https((request, response) => {
        if (request.url === "/cut") return void request.socket.destroy()
        json(response, request.url === "/gone" ? 410 : 200, request.url === "/gone" ? status(410, "Gone") : {})
      })
      for (const path of ["/a", "/b", "/gone", "/cut"]) yield* Effect.exit(transport.send(get(path)))
      yield* transport.send({ ...get("/c"), method: "POST", body: {} })
      const { host } = new URL(server.url)
      const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id === "rest_client_requests_total" && attributes?.["host"] === host && "count" in state && state.count > 0
          ? [`${attributes["method"]} ${attributes["code"]} ${state.count}`]
          : []
      )
      assert.deepStrictEqual(counted.sort(), ["GET 200 2", "GET 410 1", "GET <error> 1", "POST 200 1"])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped)
  )
})

describe("the metrics of requests, where all are wanted", () => {
  const names = [
    "rest_client_request_duration_seconds",
    "rest_client_rate_limiter_duration_seconds",
    "rest_client_dns_resolution_duration_seconds",
    "rest_client_request_size_bytes",
    "rest_client_response_size_bytes"
  ]
  const histograms = Effect.map(Metric.snapshot, (all) =>
    all.flatMap(({ attributes, id, state }) => ("buckets" in state ? [{ id, attributes, state }] : []))
  )

  it.live("are durations, sizes and retries by verb and host, with series from the start", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* https((_, response, body) =>
        json(response, body === "" && server.requests.length < 2 ? 503 : 200, { some: "x".repeat(300) })
      )
      const { host } = new URL(server.url)
      const before = yield* histograms
      const detail = yield* RequestMetrics.detail(host)
      assert.deepStrictEqual(new Set(before.map(({ id }) => id)), new Set(names))
      assert.strictEqual(before.length, 4 * 5 + 1)
      assert.isTrue(before.every(({ attributes, state }) => attributes?.["host"] === host && state.count === 0))
      const request = get("/a")
      yield* Effect.exit(transport.send(request))
      // As a fence does: another request object with the same context.
      yield* transport.send({ ...request, mayStartUnsafe: () => true })
      yield* transport.send({ ...get("/b"), method: "POST", body: { a: "ü" } })
      // The duration and size of a watch are not measured.
      yield* Effect.exit(Stream.runDrain(transport.watch(get("/c"))))
      detail?.limited("GET", 300)
      detail?.resolved(2)
      const counts = (yield* histograms).flatMap(({ attributes, id, state }) =>
        state.count > 0 ? [`${id.slice("rest_client_".length)} ${attributes?.["verb"] ?? "-"} ${state.count}`] : []
      )
      assert.deepStrictEqual(counts.sort(), [
        "dns_resolution_duration_seconds - 1",
        "rate_limiter_duration_seconds GET 1",
        "request_duration_seconds GET 2",
        "request_duration_seconds POST 1",
        "request_size_bytes GET 2",
        "request_size_bytes POST 1",
        "response_size_bytes GET 2",
        "response_size_bytes POST 1"
      ])
      const sums = new Map(
        (yield* histograms).map(({ attributes, id, state }) => [`${id} ${attributes?.["verb"]}`, state.sum])
      )
      assert.strictEqual(sums.get("rest_client_request_size_bytes POST"), 10)
      assert.isAbove(sums.get("rest_client_response_size_bytes POST") ?? 0, 300)
      assert.strictEqual(sums.get("rest_client_rate_limiter_duration_seconds GET"), 0.3)
      const retried = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id === "rest_client_request_retries_total" && "count" in state && state.count !== 0
          ? [`${attributes?.["code"]} ${attributes?.["verb"]} ${attributes?.["host"]} ${state.count}`]
          : []
      )
      assert.deepStrictEqual(retried, [`200 GET ${host} 1`])
    }).pipe(
      Effect.provideService(RequestMetrics.Wanted, true),
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.scoped
    )
  )

  it.live("include the duration of DNS lookups", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => json(response, 200, {}), tls, "HTTP/2")
      const url = server.url.replace("127.0.0.1", "localhost")
      const transport = yield* HttpTransport.make(
        Endpoint.fixed({ server: url, tls: { ca: ca.cert, rejectUnauthorized: false }, token: "t" })
      )
      yield* Effect.exit(transport.send(get("/a")))
      const resolved = (yield* histograms).find(({ id }) => id === names[2])
      assert.strictEqual(resolved?.state.count, 1)
    }).pipe(
      Effect.provideService(RequestMetrics.Wanted, true),
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.scoped
    )
  )
})

describe("calls", () => {
  it.live(
    "a thousand sequential calls open a handful of connections",
    () =>
      Effect.gen(function* () {
        const { server, transport } = yield* https((_, response) => json(response, 200, { ok: true }))
        for (let i = 0; i < 1000; i++) yield* transport.send(get("/api/v1/pods"))
        assert.strictEqual(server.requests.length, 1000)
        assert.isAtMost(server.accepted, 4)
      }),
    30_000
  )

  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    it.live(`a hundred calls of ${method} with bodies keep their connection`, () =>
      Effect.gen(function* () {
        const { server, transport } = yield* https((_, response) => json(response, 200, { ok: true }))
        const body = { preconditions: { uid: "1" } }
        for (let i = 0; i < 100; i++) yield* transport.send({ ...get("/api/v1/pods/a"), method, body })
        assert.strictEqual(server.requests.length, 100)
        assert.isAtMost(server.accepted, 2)
      })
    )
  }

  it.live("sends method, query, headers and body; reads JSON, text and warnings", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const { transport } = yield* https((request, response, body) => {
        const {
          authorization,
          accept,
          "user-agent": agent,
          "content-type": type,
          "accept-encoding": encoding
        } = request.headers
        seen.push([request.method, request.url, body, { authorization, accept, agent, type, encoding }])
        if (request.url === "/readyz") return response.writeHead(200, { "content-type": "text/plain" }).end("ok")
        const warning = '299 - "first, \\"quoted\\"", 299 kube "second"'
        return json(response, 201, { made: 1 }, { warning })
      })
      const answer = yield* transport.send(
        get("/api/v1/pods", {
          method: "POST",
          query: { limit: 500, watch: true, labelSelector: "a=b,c", none: undefined, many: ["1", "2"] },
          body: { a: "ü" },
          accept: "application/json;as=X",
          contentType: "application/merge-patch+json"
        })
      )
      assert.deepStrictEqual(answer, { status: 201, body: { made: 1 }, warnings: ['first, "quoted"', "second"] })
      assert.deepStrictEqual(seen[0], [
        "POST",
        "/api/v1/pods?limit=500&watch=true&labelSelector=a%3Db%2Cc&many=1&many=2",
        '{"a":"ü"}',
        {
          authorization: "Bearer s3cret-token",
          accept: "application/json;as=X",
          agent: "effect-controller-manager",
          type: "application/merge-patch+json",
          encoding: undefined
        }
      ])
      assert.strictEqual((yield* transport.send(get("/readyz"))).body, "ok")
    })
  )

  it.live("keeps the path of the server as a prefix", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => json(response, 200, {}))
      const transport = yield* HttpTransport.make(Endpoint.fixed({ server: `${server.url}/k8s/clusters/c-1/` }))
      yield* transport.send(get("/api/v1/pods"))
      assert.deepStrictEqual(server.requests, ["GET /k8s/clusters/c-1/api/v1/pods"])
    })
  )

  it.live("calls mayStart when a connection is ready, for each attempt, and sends nothing if it returns false", () =>
    Effect.gen(function* () {
      const { server, transport } = yield* https((_, response) => json(response, 200, {}))
      let asked = 0
      let may = true
      const write = () => ({ ...get("/a"), method: "PATCH" as const, body: {}, mayStartUnsafe: () => (asked++, may) })
      yield* transport.send(write())
      assert.deepStrictEqual([asked, server.requests.length], [1, 1])
      may = false
      const error = yield* Effect.flip(transport.send(write()))
      assert.strictEqual(error.reason._tag, "LeaderFenced")
      assert.strictEqual(
        error.message,
        "not sent: this process can no longer prove that it leads, or that it has the shard"
      )
      assert.deepStrictEqual([asked, server.requests.length], [2, 1])
      // The transport still works.
      may = true
      yield* transport.send(write())
      assert.strictEqual(server.requests.length, 2)
      const { server: other, transport: cold } = yield* https((_, response) => json(response, 200, {}))
      // While the connection is opened, the result of mayStart changes.
      const refused = yield* Effect.forkChild(Effect.flip(cold.send(write())), { startImmediately: true })
      may = false
      assert.strictEqual((yield* Fiber.join(refused)).reason._tag, "LeaderFenced")
      assert.strictEqual(other.requests.length, 0)
    })
  )

  it.live("fails with the reason the server gave, its Retry-After, and without any secret", () =>
    Effect.gen(function* () {
      const answers: Record<string, (response: ServerResponse) => void> = {
        "/gone": (response) => json(response, 410, status(410, "Expired")),
        "/slow": (response) => json(response, 429, status(429, "TooManyRequests"), { "retry-after": "7" }),
        "/text": (response) => void response.writeHead(503).end("upstream down"),
        "/broken": (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"half":'),
        "/long": (response) => {
          response.writeHead(500, { "content-type": "text/plain" })
          const pump = () => {
            while (response.write("x".repeat(65536)));
            response.once("drain", pump)
          }
          pump()
        }
      }
      const { transport } = yield* https((request, response) => answers[request.url ?? ""]?.(response))
      const fail = (path: string) => Effect.flip(transport.send(get(path)))
      assert.strictEqual((yield* fail("/gone")).reason._tag, "Gone")
      const slow = yield* fail("/slow")
      assert.deepStrictEqual(ApiError.retryAfter(slow), Duration.seconds(7))
      assert.include((yield* fail("/text")).message, "upstream down")
      assert.strictEqual((yield* fail("/broken")).reason._tag, "Decode")
      const long = yield* fail("/long")
      assert.strictEqual(long.reason._tag, "ServerError")
      assert.isBelow(long.message.length, 400)
      for (const error of [slow, long]) assert.notInclude(inspect(error, { depth: 9, showHidden: true }), "s3cret")
    })
  )

  it.live("case 8: an interrupted call is aborted at the server, and nothing follows it", () =>
    Effect.gen(function* () {
      let arrived = () => {}
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const { server, transport } = yield* https(() => arrived())
      const fiber = yield* Effect.forkChild(transport.send(get("/api/v1/pods")))
      yield* Effect.promise(() => arrival)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(server.quiet)
      assert.deepStrictEqual(server.requests, ["GET /api/v1/pods"])
    })
  )

  it.effect("a call without a response ends at its limit, and is aborted at the server", () =>
    Effect.gen(function* () {
      let arrived = () => {}
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const { server, transport } = yield* https(() => arrived())
      const limit = Duration.seconds(70)
      const fiber = yield* Effect.forkChild(Effect.flip(transport.send(get("/api/v1/pods", { limit }))))
      yield* Effect.promise(() => arrival)
      yield* TestClock.adjust("69999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(fiber)
      assert.deepStrictEqual([error.reason._tag, error.status], ["Timeout", undefined])
      yield* Effect.promise(server.quiet)
    })
  )

  it.live("a call can be ended from outside until it has its response", () =>
    Effect.gen(function* () {
      let arrived = () => {}
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const { server, transport } = yield* https((request, response) =>
        request.url === "/answered" ? json(response, 200, {}) : arrived()
      )
      const registered = new Set<(error: ApiError.ApiError) => void>()
      const endUnsafe: Request["endUnsafe"] = (end) => {
        registered.add(end)
        return () => void registered.delete(end)
      }
      yield* transport.send(get("/answered", { endUnsafe }))
      assert.strictEqual(registered.size, 0)
      const fiber = yield* Effect.forkChild(Effect.flip(transport.send(get("/waiting", { endUnsafe }))))
      yield* Effect.promise(() => arrival)
      assert.strictEqual(registered.size, 1)
      const over = ApiError.leaderFenced({ verb: "get", path: "/waiting" })
      for (const end of registered) end(over)
      assert.strictEqual(yield* Fiber.join(fiber), over)
      assert.strictEqual(registered.size, 0)
      const atOnce = get("/at-once", { endUnsafe: (end) => (end(over), () => {}) })
      assert.strictEqual(yield* Effect.flip(transport.send(atOnce)), over)
      yield* Effect.promise(server.quiet)
    })
  )

  for (const [title, material] of [
    ["in the open", undefined],
    ["over TLS", tls]
  ] as const)
    it.live(`an interrupted call resets its connection, so that nothing more of it leaves, ${title}`, () =>
      Effect.gen(function* () {
        const arrived: Array<string> = []
        const end = yield* Deferred.make<string>()
        const { url } = yield* start((request) => {
          arrived.push(`${request.method} ${request.url}`)
          const say = (how: string) => Deferred.doneUnsafe(end, Effect.succeed(how))
          request.socket.on("error", (error: NodeJS.ErrnoException) => say(error.code ?? ""))
          request.socket.on("end", () => say("end"))
        }, material)
        const transport = yield* HttpTransport.make(Endpoint.fixed({ server: url, tls: { ca: ca.cert } }))
        const fiber = yield* Effect.forkChild(transport.send({ ...get("/a"), method: "POST", body: {} }))
        while (arrived.length === 0) yield* Effect.sleep(5)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* Deferred.await(end), "ECONNRESET")
      })
    )

  it.live("a call interrupted while it still connects returns at once and is never sent", () =>
    Effect.gen(function* () {
      // Accepts connections and never responds to the handshake.
      let accepted: ((socket: Socket) => void) | undefined
      const arrival = new Promise<Socket>((resolve) => (accepted = resolve))
      const silent = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createTcpServer((socket) => accepted?.(socket)).listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = silent.address() as AddressInfo
      const socket = yield* Effect.scoped(
        Effect.gen(function* () {
          const transport = yield* HttpTransport.make(Endpoint.fixed({ server: `https://127.0.0.1:${port}` }))
          const fiber = yield* Effect.forkChild(transport.send(get("/a")))
          const found = yield* Effect.promise(() => arrival)
          yield* Fiber.interrupt(fiber)
          return found
        })
      )
      const received: Array<Buffer> = []
      socket.on("data", (bytes: Buffer) => received.push(bytes)).on("error", () => {})
      if (!socket.closed) yield* Effect.promise(() => once(socket, "close"))
      // The ClientHello is one record of type 22; a request could only follow the server's response.
      assert.isAtMost(received.length, 1)
    })
  )

  it.live("a reset connection is a Network failure, and the next call works", () =>
    Effect.gen(function* () {
      let reset = true
      const { transport } = yield* https((request, response) => {
        if (!reset) return json(response, 200, {})
        reset = false
        return request.socket.destroy()
      })
      const error = yield* Effect.flip(transport.send(get("/a")))
      assert.strictEqual(error.reason._tag, "Network")
      assert.include(error.message, "was closed")
      yield* transport.send(get("/a"))
    })
  )

  it.live("case 1: a refused connection is an error of one sentence", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(start((_, response) => json(response, 200, {})))
      const transport = yield* HttpTransport.make(Endpoint.fixed({ server: server.url }))
      const error = yield* Effect.flip(transport.send(get("/a")))
      assert.strictEqual(error.reason._tag, "Network")
      assert.include(error.message, `${server.url} refuses the connection (ECONNREFUSED)`)
    })
  )

  it.live("closing the scope closes every connection", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => json(response, 200, {}), tls)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transport = yield* HttpTransport.make(Endpoint.fixed({ server: server.url, tls: { ca: ca.cert } }))
          yield* transport.send(get("/a"))
        })
      )
      yield* Effect.promise(server.quiet)
      // The first one has found that the server does not offer HTTP/2.
      assert.strictEqual(server.accepted, 2)
    })
  )
})

describe("TLS", () => {
  it.live("verifies the server unless configured otherwise", () =>
    Effect.gen(function* () {
      const other = yield* Effect.promise(() => authority("another"))
      const server = yield* start((_, response) => json(response, 200, {}), tls)
      const call = (options: Partial<Identity["tls"]>) =>
        Effect.scoped(
          Effect.flatMap(HttpTransport.make(Endpoint.fixed({ server: server.url, tls: options })), (transport) =>
            transport.send(get("/a"))
          )
        )
      const untrusted = yield* Effect.flip(call({ ca: other.cert }))
      assert.strictEqual(untrusted.reason._tag, "Network")
      assert.include(untrusted.message, "is not trusted")
      assert.include((yield* Effect.flip(call({}))).message, "is not trusted")
      const misnamed = yield* Effect.flip(call({ ca: ca.cert, servername: "kubernetes.default" }))
      assert.include(misnamed.message, "is for another name")
      yield* call({ ca: ca.cert, servername: "localhost" })
      yield* call({ rejectUnauthorized: false })
      assert.strictEqual(server.requests.length, 2)
    })
  )

  it.live.each(versions)(
    "case 9: a client certificate rotated during a watch over %s is used by the next call, and the watch continues",
    (version) =>
      Effect.gen(function* () {
        const [one, two] = yield* Effect.promise(() => Promise.all([ca.issue("one"), ca.issue("two")]))
        let watch: ServerResponse | undefined
        const names: Array<string> = []
        const server = yield* start(
          (request, response) => {
            names.push((request.socket as TLSSocket).getPeerCertificate().subject.CN as string)
            if (!request.url?.includes("watch")) return json(response, 200, {})
            watch = response
            response.writeHead(200, { "content-type": "application/json" })
            return response.write(watchLine("ADDED", "first"))
          },
          { ...tls, requestCert: true, rejectUnauthorized: true },
          version
        )
        const identity = (pair: { cert: string; key: string }): Identity => ({
          tls: { ca: ca.cert, cert: pair.cert, key: Redacted.make(pair.key), rejectUnauthorized: true },
          headers: Redacted.make({})
        })
        let current = identity(one)
        const transport = yield* HttpTransport.make(
          Endpoint.of({ server: server.url, identity: Effect.sync(() => current), renew: () => Effect.succeed(false) })
        )
        const events: Array<string> = []
        const rotate = Effect.gen(function* () {
          yield* transport.send(get("/before"))
          current = identity(two)
          yield* transport.send(get("/after"))
          // Equal material in another object uses the same connection.
          current = identity(two)
          yield* transport.send(get("/after"))
          watch?.end(watchLine("MODIFIED", "first"))
        })
        yield* transport.watch(get("/w", { query: { watch: true } })).pipe(
          Stream.runForEach((event) => {
            events.push(event.type)
            return event.type === "ADDED" ? rotate : Effect.void
          })
        )
        assert.deepStrictEqual(events, ["ADDED", "MODIFIED"])
        assert.deepStrictEqual(names, ["one", "one", "two", "two"])
        // Over HTTP/2, one for each material. Over HTTP/1.1, with each of them one that asks for HTTP/2; one for the watch, one for the next call with the old
        // material, and at most two with the new (a freed connection is reused one turn later).
        if (version === "HTTP/2") assert.strictEqual(server.accepted, 2)
        else assert.isAtMost(server.accepted, 6)
      })
  )
})

describe("credentials", () => {
  /** An endpoint whose token is `token-N`; `renew` makes the next one, as often as `supply` allows. */
  const rotating = (server: string, supply: number) => {
    let serial = 1
    const state = { renewals: 0 }
    const make = (): Identity => ({
      tls: { rejectUnauthorized: true },
      headers: Redacted.make({ authorization: `Bearer token-${serial}` })
    })
    let current = make()
    const endpoint = Endpoint.of({
      server,
      identity: Effect.sync(() => current),
      renew: () =>
        Effect.sync(() => {
          state.renewals++
          if (serial > supply) return false
          serial++
          current = make()
          return true
        })
    })
    return { endpoint, state }
  }

  it.live("a 401 causes one renewal and one retry, for calls and for watches", () =>
    Effect.gen(function* () {
      const tokens: Array<string | undefined> = []
      const server = yield* start((request, response) => {
        tokens.push(request.headers.authorization)
        return request.headers.authorization === "Bearer token-1"
          ? json(response, 401, status(401, "Unauthorized"))
          : json(response, 200, {})
      })
      const first = rotating(server.url, 1)
      const transport = yield* HttpTransport.make(first.endpoint)
      yield* transport.send(get("/a", { method: "POST", body: {} }))
      assert.deepStrictEqual(tokens, ["Bearer token-1", "Bearer token-2"])
      assert.strictEqual(first.state.renewals, 1)
      const second = rotating(server.url, 1)
      const watching = yield* HttpTransport.make(second.endpoint)
      yield* Effect.flip(Stream.runDrain(watching.watch(get("/w"))))
      assert.strictEqual(second.state.renewals, 1)
      assert.strictEqual(tokens.at(-1), "Bearer token-2")
    })
  )

  it.live("a second 401 is an Unauthorized failure", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => json(response, 401, status(401, "Unauthorized")))
      const { endpoint, state } = rotating(server.url, 100)
      const transport = yield* HttpTransport.make(endpoint)
      assert.strictEqual((yield* Effect.flip(transport.send(get("/a")))).reason._tag, "Unauthorized")
      assert.strictEqual(state.renewals, 1)
      assert.strictEqual(server.requests.length, 2)
    })
  )

  it.live("case 9: credentials that fail once and recover cost one call; no request is sent without them", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => json(response, 200, {}))
      const good = Endpoint.fixed({ server: server.url })
      let failing = true
      const transport = yield* HttpTransport.make(
        Endpoint.of({
          ...good,
          identity: Effect.suspend((): Effect.Effect<Identity, CredentialsError> => {
            if (!failing) return good.identity
            failing = false
            return Effect.fail({ _tag: "CredentialsError", message: "plugin failed" } as CredentialsError)
          })
        })
      )
      assert.strictEqual((yield* Effect.flip(transport.send(get("/a")))).reason._tag, "Credentials")
      yield* transport.send(get("/a"))
      assert.strictEqual(server.requests.length, 1)
    })
  )

  it.live("uses a configured proxy, with TCP keepalive after 20 s", () =>
    Effect.gen(function* () {
      const delays = vi.spyOn(Socket.prototype, "setKeepAlive")
      yield* Effect.addFinalizer(() => Effect.sync(() => delays.mockRestore()))
      const { server } = yield* https((_, response) => json(response, 200, { through: true }))
      const asked: Array<string> = []
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const tcp = createTcpServer((client) => {
            client.once("data", (head) => {
              asked.push(head.toString().split("\r\n")[0] ?? "")
              const upstream = connect(server.port, "127.0.0.1", () => {
                client.write("HTTP/1.1 200 OK\r\n\r\n")
                client.pipe(upstream).pipe(client)
              })
              for (const socket of [client, upstream]) socket.on("error", () => {})
            })
          })
          tcp.listen(0, "127.0.0.1")
          await once(tcp, "listening")
          return tcp
        }),
        (tcp) => Effect.sync(() => tcp.close())
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transport: Transport["Service"] = yield* HttpTransport.make(
            Endpoint.fixed({
              server: server.url,
              tls: { ca: ca.cert },
              proxy: Redacted.make(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
            })
          )
          assert.deepStrictEqual((yield* transport.send(get("/a"))).body, { through: true })
        })
      )
      assert.deepStrictEqual(asked, [`CONNECT 127.0.0.1:${server.port} HTTP/1.1`])
      const wanted = delays.mock.calls.flatMap(([isOn, delay]) => (isOn === true ? [delay] : []))
      assert.isNotEmpty(wanted)
      assert.deepStrictEqual(new Set(wanted), new Set([20_000]))
    })
  )
})

describe.each(versions)("a watch over %s", (version) => {
  const watching = Effect.fnUntraced(function* (handler: (response: ServerResponse) => void) {
    const { server, transport } = yield* https((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      handler(response)
    }, version)
    const seen: Array<string> = []
    const events = transport
      .watch(get("/api/v1/pods", { query: { watch: true } }))
      .pipe(
        Stream.tap((event) =>
          Effect.sync(() =>
            seen.push(`${event.type} ${(event.object as { metadata: { name: string } }).metadata.name}`)
          )
        )
      )
    return { server, seen, events }
  })

  it.live("delivers events however the bytes are split, and ends when the server ends it", () =>
    Effect.gen(function* () {
      const text = watchLine("ADDED", "ä") + watchLine("MODIFIED", "b") + watchLine("BOOKMARK", "")
      const bytes = Buffer.from(text)
      const { events, seen } = yield* watching((response) => {
        const next = (i: number): void => {
          if (i >= bytes.length) return void response.end()
          response.write(bytes.subarray(i, i + 7), () => next(i + 7))
        }
        next(0)
      })
      yield* Stream.runDrain(events)
      assert.deepStrictEqual(seen, ["ADDED ä", "MODIFIED b", "BOOKMARK "])
    })
  )

  it.live("an ERROR event fails the stream after what came before it", () =>
    Effect.gen(function* () {
      const { events, seen } = yield* watching((response) =>
        response.end(watchLine("ADDED", "a") + `${JSON.stringify({ type: "ERROR", object: status(410, "Expired") })}\n`)
      )
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(events))).reason._tag, "Gone")
      assert.deepStrictEqual(seen, ["ADDED a"])
    })
  )

  for (const [title, tail] of [
    ["truncated", '{"type":"MODIFIED","obj'],
    ["malformed", "{nonsense}\n"]
  ] as const) {
    it.live(`a ${title} line is a Decode failure, never skipped`, () =>
      Effect.gen(function* () {
        const { events, seen } = yield* watching((response) => response.end(watchLine("ADDED", "a") + tail))
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(events))).reason._tag, "Decode")
        assert.deepStrictEqual(seen, ["ADDED a"])
      })
    )
  }

  it.live("case 2: a socket reset in the middle is a Network failure", () =>
    Effect.gen(function* () {
      const { events, seen, server } = yield* watching((response) =>
        response.write(watchLine("ADDED", "a"), () => {
          for (const socket of server.sockets) socket.resetAndDestroy()
        })
      )
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(events))).reason._tag, "Network")
      assert.deepStrictEqual(seen, ["ADDED a"])
    })
  )

  it.live("a rejected watch fails with the server's reason", () =>
    Effect.gen(function* () {
      const { transport } = yield* https((_, response) => json(response, 410, status(410, "Expired")), version)
      const error = yield* Effect.flip(Stream.runDrain(transport.watch(get("/w"))))
      assert.strictEqual(error.reason._tag, "Gone")
    })
  )

  it.live("case 8: ending or interrupting it ends the response at the server at once", () =>
    Effect.gen(function* () {
      const closed: Array<() => void> = []
      const closing = [0, 1].map((index) => new Promise<void>((resolve) => (closed[index] = resolve)))
      const { events, server } = yield* watching((response) => {
        response.once("close", () => closed.shift()?.())
        response.write(watchLine("ADDED", "a"))
      })
      yield* Stream.runDrain(Stream.take(events, 1))
      yield* Effect.promise(() => closing[0]!)
      let heard = () => {}
      const first = new Promise<void>((resolve) => (heard = resolve))
      const fiber = yield* Effect.forkChild(Stream.runForEach(events, () => Effect.sync(heard)))
      yield* Effect.promise(() => first)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => closing[1]!)
      assert.strictEqual(server.requests.length, 2)
    })
  )

  it.live("a slow consumer stops the server instead of filling memory", () =>
    Effect.gen(function* () {
      const line = watchLine("MODIFIED", "x".repeat(64 * 1024))
      let written = 0
      let stalled = () => {}
      const stall = new Promise<void>((resolve) => (stalled = resolve))
      const total = 1000
      const { events, seen } = yield* watching((response) => {
        const pump = () => {
          for (; written < total; written++) {
            if (response.write(line)) continue
            written++
            response.once("drain", pump)
            // More than the client keeps.
            if (written > 70) stalled()
            return
          }
          response.end()
        }
        pump()
      })
      yield* events.pipe(Stream.runForEach(() => (seen.length === 1 ? Effect.promise(() => stall) : Effect.void)))
      assert.strictEqual(seen.length, total)
    })
  )
})

describe.each(versions)("a list over %s for a caller that needs no managedFields", (version) => {
  const items = Array.from({ length: 2000 }, (_, i) => ({
    metadata: { name: `p-${i}`, labels: { a: "ü😀" }, managedFields: [{ manager: "]", fieldsV1: { "f:spec": {} } }] },
    spec: { nodeName: `n-${i}` }
  }))
  const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items }

  it.live("has all objects, and the failures of other responses", () =>
    Effect.gen(function* () {
      const { transport } = yield* https((request, response) => {
        if (request.url === "/refused") return json(response, 422, status(422, "Invalid"))
        if (request.url === "/text") return void response.writeHead(200, { "content-type": "text/plain" }).end("ok")
        if (request.url === "/cut")
          return void response.writeHead(200, { "content-type": "application/json" }).end('{"items":[')
        json(response, 200, list)
      }, version)
      const send = (path: string) => transport.send(get(path, { omitManagedFields: true }))
      const { body } = yield* send("/list")
      const named = (body as typeof list).items.map(({ metadata: { labels, name }, spec }) => ({ labels, name, spec }))
      const expected = items.map(({ metadata: { labels, name }, spec }) => ({ labels, name, spec }))
      assert.deepStrictEqual(named, expected)
      assert.deepStrictEqual((body as typeof list).metadata, list.metadata)
      assert.isTrue(ApiError.hasReason(yield* Effect.flip(send("/refused")), "Invalid"))
      assert.strictEqual((yield* send("/text")).body, "ok")
      assert.isUndefined((yield* transport.send(get("/cut", { ignoresBody: true }))).body)
      assert.strictEqual(
        (yield* Effect.flip(transport.send(get("/refused", { ignoresBody: true })))).reason._tag,
        "Invalid"
      )
      const broken = yield* Effect.flip(send("/cut"))
      assert.strictEqual(broken.detail, "the answer of 10 bytes is not valid JSON")
    }).pipe(Effect.scoped)
  )
})
