/** The console's server on real sockets: its printed address, the Host check, and HTTPS elsewhere than on loopback. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import { type IncomingMessage, request as http } from "node:http"
import { request as https } from "node:https"
import { Listener } from "../../../src/layers/http/Listener.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as Server from "../../../src/manager/console/server.ts"
import { listener } from "../../../src/platform/listener/Listener.ts"
import * as SecretToken from "../../../src/platform/secretToken.ts"

const started = (host: string) => {
  const token = SecretToken.make()
  return Server.start({
    program: { name: "test", version: "1", server: "https://127.0.0.1:1", isEmbedded: false },
    place: { address: { host, port: 0 }, isOptional: false },
    token,
    secure: { transport: Transport.layerNoop, files: undefined },
    hostname: "machine",
    controllers: [],
    disabled: [],
    files: new Map(),
    cluster: undefined
  }).pipe(
    Effect.provideService(Listener, listener),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.map((address = "") => new URL(address))
  )
}

/** Resolves with the response once its headers are there. */
const get = (url: URL, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(
    () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const send = url.protocol === "https:" ? https : http
        const options = { host: "127.0.0.1", port: url.port, path, headers, agent: false, rejectUnauthorized: false }
        send(options, resolve).on("error", reject).end()
      })
  )

const statusOf = (url: URL, path: string, headers?: Readonly<Record<string, string>>) =>
  Effect.map(get(url, path, headers), (response) => {
    response.destroy()
    return response.statusCode
  })

describe("the console's server", () => {
  it.live("on loopback: its address has the token in the fragment, which is all that a reader needs", () =>
    Effect.gen(function* () {
      const url = yield* started("127.0.0.1")
      assert.match(url.href, /^http:\/\/127\.0\.0\.1:\d+\/console\/#token=[\w-]{43}$/)
      const authorization = `Bearer ${url.hash.slice("#token=".length)}`
      assert.strictEqual(yield* statusOf(url, "/console/api/search?q=a", { authorization }), 200)
      assert.strictEqual(yield* statusOf(url, "/console/api/search?q=a"), 401)
      const other = yield* started("127.0.0.1")
      assert.notStrictEqual(other.hash, url.hash)
      assert.strictEqual(yield* statusOf(other, "/console/api/search?q=a", { authorization }), 401)
    }).pipe(Effect.scoped)
  )

  it.live("on loopback: pages of other sites get nothing, whatever name they have for this machine", () =>
    Effect.gen(function* () {
      const url = yield* started("127.0.0.1")
      const authorization = `Bearer ${url.hash.slice("#token=".length)}`
      const path = "/console/api/search?q=a"
      const hosts = ["rebound.example.com", `evil.test:${url.port}`, "localhost.evil.test", "127.0.0.1.evil.test"]
      for (const host of [...hosts, `127.0.0.1:${url.port}@evil.test`, "[::1].evil.test", "2130706433"]) {
        assert.strictEqual(yield* statusOf(url, path, { authorization, host }), 403, host)
        assert.strictEqual(yield* statusOf(url, "/console/", { host }), 403, host)
      }
      for (const site of ["cross-site", "same-site"]) {
        assert.strictEqual(yield* statusOf(url, path, { authorization, "sec-fetch-site": site }), 403, site)
      }
      assert.strictEqual(yield* statusOf(url, `http://evil.test${path}`, { authorization }), 404)
      assert.strictEqual(yield* statusOf(url, path, { authorization, host: `localhost:${url.port}` }), 200)
    }).pipe(Effect.scoped)
  )

  it.live("elsewhere: HTTPS, no token in the address, and none that would be enough", () =>
    Effect.gen(function* () {
      const url = yield* started("0.0.0.0")
      assert.match(url.href, /^https:\/\/machine:\d+\/console\/$/)
      assert.strictEqual(yield* statusOf(url, "/console/api/stream"), 401)
      const plain = new URL(`http://127.0.0.1:${url.port}/`)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(statusOf(plain, "/console/api/stream"))))
    }).pipe(Effect.scoped)
  )

  it.live("closes at once although a page reads its stream, and although another one does not", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const url = yield* Scope.provide(started("127.0.0.1"), scope)
      const authorization = `Bearer ${url.hash.slice("#token=".length)}`
      const open = get(url, "/console/api/stream", { authorization })
      const [reading, asleep] = [yield* open, yield* open]
      asleep.on("error", () => {})
      const end = new Promise<void>((resolve) => reading.on("end", resolve).on("error", resolve).resume())
      const began = performance.now()
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => end)
      assert.isBelow(performance.now() - began, 1500)
    }).pipe(Effect.scoped)
  )
})
