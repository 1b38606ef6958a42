import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Dispatcher } from "undici"
import { Exchange } from "../../../src/platform/http/Exchange.ts"

const controller = { paused: false, abort: () => undefined, resume: () => undefined, pause: () => undefined }
const of = controller as unknown as Dispatcher.DispatchController

describe("a stream that is pulled", () => {
  it.effect("returns together what arrived in one turn of the event loop", () =>
    Effect.gen(function* () {
      const exchange = new Exchange("stream")
      exchange.onRequestStart(of)
      exchange.onResponseStart(of, 200, {})
      const pulled = yield* Effect.forkChild(exchange.pull(), { startImmediately: true })
      for (const text of ["a", "b", "c"]) exchange.onResponseData(of, Buffer.from(text))
      assert.strictEqual(Buffer.concat(yield* Fiber.join(pulled)).toString(), "abc")
    })
  )

  it.effect("returns what arrived before the end, and then ends", () =>
    Effect.gen(function* () {
      const exchange = new Exchange("stream")
      exchange.onRequestStart(of)
      exchange.onResponseStart(of, 200, {})
      const pulled = yield* Effect.forkChild(exchange.pull(), { startImmediately: true })
      exchange.onResponseData(of, Buffer.from("a"))
      exchange.onResponseError(of, new Error("cut"))
      assert.strictEqual(Buffer.concat(yield* Fiber.join(pulled)).toString(), "a")
      assert.strictEqual((yield* Effect.exit(exchange.pull()))._tag, "Failure")
    })
  )
})
