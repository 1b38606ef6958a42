import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Gate } from "../../../src/layers/Setting.ts"
import * as Gates from "../../../src/manager/gates.ts"
import * as Handle from "../../../src/manager/metrics/handle.ts"

const registry: ReadonlyArray<Gate> = [
  { name: "New", stage: "ALPHA", byDefault: false, summary: "" },
  { name: "Warm", stage: "BETA", byDefault: true, summary: "" },
  { name: "Settled", stage: "GA", byDefault: true, isLocked: true, summary: "" }
]

it.effect("every gate is a series, by name and stage, that is 1 when it is on", () =>
  Effect.gen(function* () {
    yield* Gates.publish(
      registry,
      new Map([
        ["New", true],
        ["Warm", false],
        ["Settled", true]
      ])
    )
    const handle = yield* Handle.handler(new Map())
    const { body } = yield* handle({
      method: "GET",
      path: "/metrics",
      query: new URLSearchParams(),
      bearer: undefined,
      body: Effect.succeed("")
    })
    assert.deepStrictEqual(
      (typeof body === "string" ? body : "")
        .split("\n")
        .filter((line) => line.startsWith("kubernetes_feature_enabled{")),
      [
        'kubernetes_feature_enabled{name="New",stage="ALPHA"} 1',
        'kubernetes_feature_enabled{name="Warm",stage="BETA"} 0',
        'kubernetes_feature_enabled{name="Settled",stage=""} 1'
      ]
    )
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)
