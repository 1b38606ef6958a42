/** Calls webhooks over real sockets: trusted authorities, resolution of services, and invalid responses. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { answerLimit } from "../../../src/apiserver/webhook/WebhookCaller.ts"
import * as HttpsWebhooks from "../../../src/apiserver/server/webhookCaller.ts"
import * as httpsServer from "../../support/httpsServer.ts"
import * as tls from "../../support/tls.ts"

const service = { namespace: "ns", name: "hook", port: 443 }

const start = Effect.fnUntraced(function* (handler: httpsServer.Handler, hosts?: ReadonlyArray<string>) {
  const ca = yield* Effect.promise(() => tls.authority("hooks"))
  const own = yield* Effect.promise(() => ca.issue("webhook", hosts))
  const server = yield* httpsServer.start(handler, own)
  return { server, ca: ca.cert, url: `${server.url}/review?timeout=10s` }
})

const ok: httpsServer.Handler = (_request, response, body) => response.end(`heard ${body}`)

describe("WebhookCaller over HTTPS", () => {
  it.live("posts the review, and returns the response with its status", () =>
    Effect.gen(function* () {
      const { ca, server, url } = yield* start((request, response, body) => {
        response.statusCode = 418
        response.end(`${request.headers["content-type"]} ${body}`)
      })
      const reply = yield* HttpsWebhooks.make().call({ url, ca, service: undefined, body: "{}" })
      assert.deepStrictEqual(reply, { status: 418, body: "application/json {}" })
      assert.deepStrictEqual(server.requests, ["POST /review?timeout=10s"])
    }).pipe(Effect.scoped)
  )

  it.live("trusts only the CA bundle of the webhook", () =>
    Effect.gen(function* () {
      const { server, url } = yield* start(ok)
      const other = yield* Effect.promise(() => tls.authority("others"))
      const call = HttpsWebhooks.make().call
      for (const ca of [other.cert, undefined, "no certificate"]) {
        const { message } = yield* Effect.flip(call({ url, ca, service: undefined, body: "{}" }))
        assert.match(message, /certificate|issuer/)
      }
      assert.deepStrictEqual(server.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("resolves a service, and verifies the certificate for its name", () =>
    Effect.gen(function* () {
      const named = yield* start(ok, ["hook.ns.svc"])
      const unnamed = yield* start(ok)
      const call = (at: typeof named) =>
        HttpsWebhooks.make({ resolve: () => ({ host: "127.0.0.1", port: at.server.port }) }).call({
          url: "https://hook.ns.svc:443/review?timeout=1s",
          ca: at.ca,
          service,
          body: "{}"
        })
      assert.strictEqual((yield* call(named)).body, "heard {}")
      assert.match((yield* Effect.flip(call(unnamed))).message, /Hostname\/IP does not match/)
      const lost = HttpsWebhooks.make().call({ url: "https://hook.ns.svc:443/", ca: undefined, service, body: "" })
      assert.strictEqual((yield* Effect.flip(lost)).message, "lookup hook.ns.svc: no such host")
    }).pipe(Effect.scoped)
  )

  it.live("fails for a response that is too long, truncated or missing", () =>
    Effect.gen(function* () {
      const { ca, server, url } = yield* start((request, response) => {
        if (request.url === "/cut") {
          response.writeHead(200, { "content-length": 10 })
          response.write("half")
          response.socket?.destroy()
        } else response.end(Buffer.alloc(answerLimit + 1, "a"))
      })
      const call = (to: string) =>
        Effect.flip(HttpsWebhooks.make().call({ url: to, ca, service: undefined, body: "{}" }))
      assert.strictEqual((yield* call(url)).message, `the answer is longer than ${answerLimit} bytes`)
      assert.notStrictEqual((yield* call(`${server.url}/cut`)).message, "")
      server.stopListening()
      yield* Effect.promise(server.quiet)
      assert.match((yield* call(url)).message, /ECONNREFUSED/)
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection on interruption", () =>
    Effect.gen(function* () {
      let heard = (): void => {}
      const arrived = new Promise<void>((resolve) => (heard = resolve))
      const { ca, server, url } = yield* start(() => heard())
      const fiber = yield* Effect.forkChild(HttpsWebhooks.make().call({ url, ca, service: undefined, body: "{}" }))
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(server.quiet)
    }).pipe(Effect.scoped)
  )
})
