import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Pod } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Transports from "../../../src/cli/cluster/transports.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { Transport } from "../../../src/layers/Transport.ts"

/** A client of a server that counts requests and returns given responses. */
const paced = Effect.fnUntraced(function* (limit: Transports.Limit) {
  const server = { sent: 0, watched: 0, refusals: 0 }
  const transport = Transport.of({
    send: ({ context }) =>
      Effect.suspend(() => {
        server.sent++
        if (server.refusals-- > 0) return Effect.fail(ApiError.fromStatus({ context, status: 503, body: undefined }))
        return Effect.succeed({ status: 200, body: { metadata: { name: "a" } }, warnings: [] })
      }),
    watch: () => Stream.suspend(() => ((server.watched += 1), Stream.empty))
  })
  const pace = yield* Transports.makePace(limit)
  const door = Transports.withUserAgent(Transports.withDryRun(Transports.withPace(transport, pace)), "test")
  const services = yield* Layer.build(Layer.provide(KubeClient.layer, Layer.succeed(Transport, door)))
  return { server, client: Context.get(services, KubeClient) }
})

describe("the limit on requests", () => {
  it.effect("lets the burst pass at once and delays the rest, without watches", () =>
    Effect.gen(function* () {
      const { client, server } = yield* paced({ perSecond: 2, burst: 3 })
      const get = client.get(Pod, { namespace: "default", name: "a" })
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.forkChild(get))
      yield* Effect.forEach([1, 2], () => Stream.runDrain(client.watch(Pod, {})))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([server.sent, server.watched], [3, 2])
      yield* TestClock.adjust("499 millis")
      assert.strictEqual(server.sent, 3)
      for (const expected of [4, 5, 6]) {
        yield* TestClock.adjust(expected === 4 ? "1 millis" : "500 millis")
        assert.strictEqual(server.sent, expected)
      }
      yield* Effect.forEach(fibers, Fiber.join)
      yield* TestClock.adjust("10 seconds")
      yield* Effect.forEach([1, 2, 3], () => get)
      assert.strictEqual(server.sent, 9)
    }).pipe(Effect.scoped)
  )

  it.effect("counts each attempt, and its wait does not count towards the timeout of a call", () =>
    Effect.gen(function* () {
      const { client, server } = yield* paced({ perSecond: 0.01, burst: 1 })
      const get = client.get(Pod, { namespace: "default", name: "a" })
      yield* get
      const waiting = yield* Effect.forkChild(get)
      yield* TestClock.adjust("99 seconds")
      assert.strictEqual(server.sent, 1)
      server.refusals = 1
      yield* TestClock.adjust("1 second")
      assert.strictEqual(server.sent, 2)
      yield* TestClock.adjust("99 seconds")
      assert.strictEqual(server.sent, 2)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(waiting)).metadata.name, "a")
    }).pipe(Effect.scoped)
  )
})
