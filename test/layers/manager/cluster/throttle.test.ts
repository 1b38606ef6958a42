import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { through } from "../../../../src/layers/manager/cluster/throttle.ts"
import type { Request, Transport } from "../../../../src/layers/Transport.ts"

const request: Request = { method: "GET", path: "/x", context: { verb: "get", path: "/x" } }

describe("the limit on requests", () => {
  it.effect("lets the burst pass at once and the rest one after another, watches included", () =>
    Effect.gen(function* () {
      let sent = 0
      const inner: Transport["Service"] = {
        send: () => Effect.sync(() => ({ status: ++sent > 0 ? 200 : 0, body: undefined, warnings: [] })),
        watch: () => Stream.suspend(() => ((sent += 1), Stream.empty))
      }
      const paced = yield* through(inner, { perSecond: 2, burst: 3 })
      const call = (watching: boolean) =>
        Effect.forkChild(watching ? Stream.runDrain(paced.watch(request)) : Effect.asVoid(paced.send(request)))
      const fibers = yield* Effect.forEach([false, false, true, true, false, false], call)
      yield* TestClock.adjust(0)
      assert.strictEqual(sent, 3)
      yield* TestClock.adjust("499 millis")
      assert.strictEqual(sent, 3)
      for (const expected of [4, 5, 6]) {
        yield* TestClock.adjust(expected === 4 ? "1 millis" : "500 millis")
        assert.strictEqual(sent, expected)
      }
      yield* Effect.forEach(fibers, Fiber.join)
      yield* TestClock.adjust("10 seconds")
      yield* Effect.forEach([1, 2, 3], () => paced.send(request))
      assert.strictEqual(sent, 9)
    })
  )
})
