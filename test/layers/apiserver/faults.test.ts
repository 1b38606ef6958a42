/** The fault script: each fault as a client of the in-process transport sees it. */
import { describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { ApiServer } from "../../../src/layers/apiserver/ApiServer.ts"
import { always, isWatch, on } from "../../../src/layers/apiserver/faults.ts"
import type { Rule } from "../../../src/layers/apiserver/faults.ts"
import { configMap, configMaps, get, layer, post, refused, same, settle, watch } from "./client.ts"

const script = (...rules: ReadonlyArray<Rule>) => Effect.flatMap(ApiServer, (server) => server.setFaults(rules))

describe("faults of calls", () => {
  it.effect("statuses carry their reason and Retry-After, as often as asked", () =>
    Effect.gen(function* () {
      yield* script({
        match: on({ path: configMaps }),
        fault: { _tag: "Status", code: 429, retryAfterSeconds: 7 },
        times: 2
      })
      const { error } = yield* refused(get(configMaps))
      same([error.reason._tag, ApiError.retryAfter(error)], ["TooManyRequests", Duration.seconds(7)])
      same((yield* refused(post(configMaps, configMap("a")))).status, 429)
      same((yield* get(configMaps)).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a dropped call was not executed, a dropped answer was", () =>
    Effect.gen(function* () {
      yield* script({ match: always, fault: { _tag: "Drop" }, times: 1 })
      same((yield* refused(post(configMaps, configMap("a")))).error.reason._tag, "Network")
      same((yield* get(configMaps)).items.length, 0)
      yield* script({ match: always, fault: { _tag: "DropAnswer" }, times: 1 })
      same((yield* refused(post(configMaps, configMap("a")))).error.reason._tag, "Network")
      same((yield* get(configMaps)).items.length, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("delays add up in virtual time", () =>
    Effect.gen(function* () {
      const delay = { match: always, fault: { _tag: "Delay", millis: 2000 } } as const
      yield* script(delay, delay)
      const fiber = yield* Effect.forkChild(get(configMaps), { startImmediately: true })
      yield* TestClock.adjust("3999 millis")
      same(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      same((yield* Fiber.join(fiber)).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("Gone is 410", () =>
    Effect.gen(function* () {
      yield* script({ match: always, fault: { _tag: "Gone" } })
      same((yield* refused(get(configMaps))).error.reason._tag, "Gone")
    }).pipe(Effect.provide(layer()))
  )
})

describe("faults of watches", () => {
  const cut = (how: "end" | "reset" | "silence") =>
    Effect.gen(function* () {
      yield* script({ match: isWatch, fault: { _tag: "CutWatch", after: 1, how } })
      const seen = yield* watch(configMaps)
      yield* post(configMaps, configMap("a"))
      yield* post(configMaps, configMap("b"))
      yield* settle
      return seen
    })

  it.effect("ends, resets or falls silent after so many events", () =>
    Effect.gen(function* () {
      const ended = yield* cut("end")
      same([ended.seen(), Exit.isSuccess(yield* ended.done)], [["ADDED a"], true])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("resets after so many events", () =>
    Effect.gen(function* () {
      const reset = yield* cut("reset")
      same([reset.seen(), (yield* Effect.flip(Fiber.join(reset.fiber))).reason._tag], [["ADDED a"], "Network"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("falls silent after so many events", () =>
    Effect.gen(function* () {
      const silent = yield* cut("silence")
      yield* TestClock.adjust("2 hours")
      same([silent.seen(), silent.fiber.pollUnsafe()], [["ADDED a"], undefined])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("fails with 410 in the stream", () =>
    Effect.gen(function* () {
      yield* script({ match: isWatch, fault: { _tag: "Gone", after: 1 }, times: 1 })
      const gone = yield* watch(configMaps)
      yield* post(configMaps, configMap("a"))
      yield* settle
      same([gone.seen(), (yield* Effect.flip(Fiber.join(gone.fiber))).reason._tag], [["ADDED a"], "Gone"])
      const next = yield* watch(configMaps)
      yield* settle
      same(next.seen(), ["ADDED a"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})
