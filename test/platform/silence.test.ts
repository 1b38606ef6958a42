/**
 * Servers that stop responding, in another network namespace: if a server does not acknowledge TCP segments any more, watches and calls fail within
 * 45 s; if it acknowledges and is slow, they do not.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type * as ApiError from "../../src/kube/ApiError.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import type { Request } from "../../src/layers/Transport.ts"
import { type Version, versions } from "../support/httpsServer.ts"
import * as Netns from "../support/netns.ts"
import { authority } from "../support/tls.ts"

const missing = Netns.missing()
if (missing !== undefined) process.stderr.write(`servers that fall silent skipped: ${missing}\n`)

/** Responds to `/watch` with the beginning of a stream, to `/slow` after 35 s, and to everything else at once. */
const program = `
  const tls = JSON.parse(process.argv[1])
  const { createServer, createSecureServer } = require(tls === null ? "node:http" : "node:http2")
  ;(createSecureServer ?? createServer)({ keepAliveTimeout: 0, ...tls }, (request, response) => {
    const late = request.url === "/slow" ? 35000 : 0
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json" })
      if (request.url !== "/watch") return response.end("{}")
      response.write(JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "1" } } }) + "\\n")
    }, late)
  }).listen(8080, () => console.log("listening"))
`

/** The server, in a network namespace of its own. HTTP/2 is over TLS. */
const serverIn = ({ through }: Netns.Cabled, version: Version) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const [command, ...args] = through
      const tls = version === "HTTP/2" ? await (await authority("the test authority")).issue("server") : null
      const child = spawn(command ?? "", [...args, process.execPath, "-e", program, JSON.stringify(tls)], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await once(createInterface(child.stdout), "line")
      return child
    }),
    (child) => Effect.promise(() => (child.kill("SIGKILL"), once(child, "exit")))
  )

/** A transport to that server, and the cable between them. */
const connected = Effect.fnUntraced(function* (version: Version) {
  const cable = yield* Netns.make
  yield* serverIn(cable, version)
  const server = `${version === "HTTP/2" ? "https" : "http"}://${cable.inside}:8080`
  const transport = yield* HttpTransport.make(Endpoint.fixed({ server, tls: { rejectUnauthorized: false } }))
  return { cable, transport }
})

const request = (path: string): Request => ({ method: "GET", path, context: { verb: "get", path } })

/** The reason of the failure, and the seconds until it. */
const failing = (call: Effect.Effect<unknown, ApiError.ApiError>) =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(Effect.flip(call), (error) => ({
      reason: error.reason._tag,
      seconds: (performance.now() - began) / 1000
    }))
  })

describe.skipIf(missing !== undefined).concurrent.each(versions)("a server that falls silent, over %s,", (version) => {
  it.live(
    "fails an open watch, an opening watch and a waiting call within 45 s if it acknowledges nothing",
    () =>
      Effect.gen(function* () {
        const { cable, transport } = yield* connected(version)
        const watch = Stream.runDrain(transport.watch(request("/watch")))
        // Over HTTP/1.1 three connections: one for the watch, and two that are kept for the later requests.
        yield* Effect.forEach(["/a", "/b", "/c"], (path) => transport.send(request(path)), { concurrency: 3 })
        const isOpen = yield* Deferred.make<void>()
        const events = Stream.runForEach(transport.watch(request("/watch")), () => Deferred.succeed(isOpen, undefined))
        const open = yield* Effect.forkChild(failing(events))
        yield* Deferred.await(isOpen)
        yield* cable.mute
        const opening = yield* Effect.forkChild(failing(watch))
        const calling = yield* Effect.forkChild(failing(transport.send(request("/d"))))
        for (const fiber of [open, opening, calling]) {
          const { reason, seconds } = yield* Fiber.join(fiber)
          assert.strictEqual(reason, "Network")
          assert.isBelow(seconds, 45)
        }
      }).pipe(Effect.scoped),
    90_000
  )

  it.live(
    "fails no call while it acknowledges",
    () =>
      Effect.gen(function* () {
        const { transport } = yield* connected(version)
        const { status } = yield* transport.send(request("/slow"))
        assert.strictEqual(status, 200)
      }).pipe(Effect.scoped),
    90_000
  )
})
