import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Health from "../../../src/layers/Health.ts"
import { noBody } from "../../../src/layers/http/handler.ts"
import * as Handle from "../../../src/manager/metrics/handle.ts"
import * as Process from "../../../src/platform/Process.ts"
import * as Probes from "../../../src/manager/probes/handle.ts"
import * as Exposition from "../../support/exposition.ts"
import * as Reference from "../../parity/metrics.ts"

const alone = Effect.provideService(Metric.MetricRegistry, new Map())

describe("how checks went", () => {
  it.live("is counted by probe for whole probes only, without excluded checks, in a registry of its own", () =>
    Effect.gen(function* () {
      const health = Health.makeUnsafe()
      let trouble: string | undefined = "not yet"
      yield* health.register("readiness", { name: "sync", run: Effect.sync(() => trouble) })
      yield* health.register("readiness", { name: "other", run: Effect.succeed(undefined) })
      yield* health.register("liveness", { name: "loop", run: Effect.die(new Error("broken")) })
      const { observe, registry } = yield* Probes.slis(Process.registerStart)
      yield* Metric.update(Metric.counter("other"), 1)
      const probes = Probes.handler(health, observe)
      const metrics = yield* Handle.handler(registry)
      const ask = (handle: typeof probes, path: string, query = "") =>
        handle({ method: "GET", path, query: new URLSearchParams(query), bearer: undefined, body: noBody })
      const scrape = Effect.map(ask(metrics, "/metrics/slis"), ({ body }) => (typeof body === "string" ? body : ""))
      const series = (text: string) => text.split("\n").filter((line) => line.startsWith("kubernetes_"))
      yield* ask(probes, "/readyz")
      yield* ask(probes, "/readyz", "exclude=other")
      yield* ask(probes, "/readyz/other")
      yield* ask(probes, "/livez")
      yield* ask(probes, "/healthz/")
      assert.deepStrictEqual(series(yield* scrape), [
        'kubernetes_healthcheck{name="other",type="readyz"} 1',
        'kubernetes_healthcheck{name="sync",type="readyz"} 0',
        'kubernetes_healthcheck{name="loop",type="livez"} 0',
        'kubernetes_healthcheck{name="loop",type="healthz"} 0',
        'kubernetes_healthchecks_total{name="other",status="success",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="sync",status="error",type="readyz"} 2',
        'kubernetes_healthchecks_total{name="loop",status="error",type="livez"} 1',
        'kubernetes_healthchecks_total{name="loop",status="error",type="healthz"} 1'
      ])
      trouble = undefined
      yield* ask(probes, "/readyz")
      const text = yield* scrape
      assert.include(text, 'kubernetes_healthcheck{name="sync",type="readyz"} 1\n')
      assert.include(text, 'kubernetes_healthchecks_total{name="sync",status="error",type="readyz"} 2\n')
      assert.include(text, 'kubernetes_healthchecks_total{name="sync",status="success",type="readyz"} 1\n')
      assert.match(text, /^process_start_time_seconds \d{10}/m)
      const found = Array.from(Exposition.parse(text), ([name, { bounds, labels, type }]) => ({
        name,
        type,
        labels,
        bounds
      }))
      assert.sameDeepMembers(
        found,
        Reference.healthMetrics.map(({ bounds, labels, name, type }) => ({
          name,
          type,
          labels: [...labels],
          bounds: [...bounds]
        }))
      )
      assert.notInclude((yield* ask(metrics, "/metrics")).body, "kubernetes_healthcheck")
    }).pipe(Effect.scoped, alone)
  )
})
