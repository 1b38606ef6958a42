import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ServerResponse } from "node:http"
import { setImmediate as turn } from "node:timers/promises"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as Monotonic from "../../src/streams/monotonic.ts"
import { start } from "../support/httpsServer.ts"
import { authority } from "../support/tls.ts"

const ca = await authority("the test authority")
const tls = { ...(await ca.issue("server")), ca: ca.cert }

const line = (type: string, name: string): string => `${JSON.stringify({ type, object: { metadata: { name } } })}\n`

/** What a watch with this interval delivers, until the server ends it or there are so many events, and when in milliseconds. */
const deliveries = (
  interval: number,
  sendInitialEvents: boolean,
  write: (response: ServerResponse) => Promise<void>,
  most = Infinity
) =>
  Effect.gen(function* () {
    const server = yield* start((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      void write(response).then(() => response.end())
    }, tls)
    const transport = yield* HttpTransport.make(Endpoint.fixed({ server: server.url, tls: { ca: ca.cert } }))
    const now = Monotonic.millis(yield* Clock.Clock)
    const found: Array<{ readonly at: number; readonly names: ReadonlyArray<string> }> = []
    const path = "/apis/coordination.k8s.io/v1/leases"
    const query = { watch: true, ...(sendInitialEvents ? { sendInitialEvents } : {}) }
    yield* transport.watch({ method: "GET", path, query, interval, context: { verb: "watch", path } }).pipe(
      Stream.take(most),
      Stream.runForEachArray((events) =>
        Effect.sync(() => {
          const names = events.map(({ object }) => (object as { metadata: { name: string } }).metadata.name)
          found.push({ at: now(), names })
        })
      )
    )
    return found
  })

describe("a watch with an interval", () => {
  it.live(
    "delivers all events in order, and small deliveries that follow each other closely not before the interval is over",
    () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 2000 }, (_, i) => `node-${i}`)
        const found = yield* deliveries(20, false, async (response) => {
          for (const name of names) {
            response.write(line("MODIFIED", name))
            await turn()
          }
        })
        assert.deepStrictEqual(
          found.flatMap((one) => one.names),
          names
        )
        for (const [i, { at }] of found.entries()) {
          const [twoBefore, before] = found.slice(Math.max(0, i - 2), i)
          if (twoBefore === undefined || before === undefined) continue
          const isClose = before.at - twoBefore.at < 40
          if (isClose && before.names.length < 32) assert.isAtLeast(at - before.at, 19)
        }
      })
  )

  it.live("does not delay the first two events after a pause", () =>
    Effect.gen(function* () {
      const write = async (response: ServerResponse) => {
        for (const name of ["node-0", "node-1"]) {
          response.write(line("MODIFIED", name))
          for (let turns = 0; turns < 20; turns++) await turn()
        }
      }
      const found = yield* Effect.timeout(deliveries(60_000, false, write, 2), "30 seconds")
      assert.deepStrictEqual(
        found.flatMap((one) => one.names),
        ["node-0", "node-1"]
      )
    })
  )

  it.live("does not delay the list with which it begins", () =>
    Effect.gen(function* () {
      const found = yield* deliveries(60_000, true, async (response) => {
        for (let i = 0; i < 5; i++) {
          response.write(line("ADDED", `node-${i}`))
          for (let turns = 0; turns < 20; turns++) await turn()
        }
        response.end(line("BOOKMARK", "end"))
      }).pipe(Effect.timeout("30 seconds"))
      assert.deepStrictEqual(
        found.flatMap((one) => one.names),
        ["node-0", "node-1", "node-2", "node-3", "node-4", "end"]
      )
    })
  )
})
