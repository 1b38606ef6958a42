/** Sending to a collector: what is logged, and how many requests wait, whatever the collector does. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Logger from "effect/Logger"
import { TestClock } from "effect/testing"
import { guard } from "../../../src/manager/telemetry/delivery.ts"

const request = HttpClientRequest.post("http://collector/v1/traces")

/** A collector that responds with these status codes in turn, and then never. */
const scripted = (statuses: ReadonlyArray<number>) => {
  const left = [...statuses]
  const seen = { atOnce: 0, most: 0 }
  const client = HttpClient.make((sent) =>
    Effect.suspend(() => {
      seen.most = Math.max(seen.most, ++seen.atOnce)
      const status = left.shift()
      return status === undefined
        ? Effect.never
        : Effect.succeed(HttpClientResponse.fromWeb(sent, new Response("{}", { status })))
    }).pipe(Effect.ensuring(Effect.sync(() => void seen.atOnce--)))
  )
  return { client: guard(client, "http://collector"), seen }
}

const recording = () => {
  const lines: Array<unknown> = []
  return { lines, layer: Logger.layer([Logger.make(({ message }) => void lines.push([message].flat()[0]))]) }
}

it.effect("a collector that fails is logged once, and its recovery once", () => {
  const { layer, lines } = recording()
  const { client } = scripted([200, 500, 401, 200, 200])
  return Effect.gen(function* () {
    for (let i = 0; i < 5; i++) yield* Effect.exit(client.execute(request))
    assert.deepStrictEqual(lines, ["Telemetry does not arrive and is dropped", "Telemetry arrives again"])
  }).pipe(Effect.provide(layer))
})

it.effect("sends four requests at once, queues sixteen, and rejects the rest", () => {
  const { layer, lines } = recording()
  const { client, seen } = scripted([])
  return Effect.gen(function* () {
    const sending = yield* Effect.forEach(Array.from({ length: 25 }), () =>
      Effect.forkChild(Effect.exit(client.execute(request)), { startImmediately: true })
    )
    const ended = sending.filter((fiber) => fiber.pollUnsafe() !== undefined)
    assert.strictEqual(ended.length, 5)
    assert.strictEqual(seen.most, 4)
    // Five seconds for each four requests.
    yield* TestClock.adjust("25 seconds")
    const exits = yield* Effect.forEach(sending, Fiber.join)
    assert.isTrue(exits.every(Exit.isFailure))
    assert.strictEqual(seen.most, 4)
    assert.deepStrictEqual(lines, ["Telemetry does not arrive and is dropped"])
  }).pipe(Effect.provide(layer))
})
