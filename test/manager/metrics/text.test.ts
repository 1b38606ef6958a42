import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Lag from "../../../src/manager/probes/lag.ts"
import { noBody } from "../../../src/layers/http/handler.ts"
import { handler, text } from "../../../src/manager/metrics/handle.ts"
import * as Process from "../../../src/platform/Process.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import * as Promtool from "../../support/promtool.ts"

const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

/** Bounds of one histogram, as written. */
const bounds = (metrics: string, name: string) =>
  Array.from(metrics.matchAll(new RegExp(`^${name}_bucket{.*le="([^"]*)"}`, "gm")), (match) => match[1])

describe("the text of the metrics", () => {
  it.effect("has the buckets of client-go and controller-runtime, formatted as in Go", () =>
    fresh(
      Effect.gen(function* () {
        ;(yield* LoopMetrics.of("pod-count")).queue("pod-count")
        const metrics = yield* text
        assert.deepStrictEqual(bounds(metrics, "workqueue_queue_duration_seconds"), [
          ..."1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 100 1000".split(" "),
          "+Inf"
        ])
        assert.deepStrictEqual(bounds(metrics, "controller_runtime_reconcile_time_seconds"), [
          ..."0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3".split(
            " "
          ),
          ..."3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 +Inf".split(" ")
        ])
      })
    )
  )

  it.effect("has large bounds with an exponent, as Go has them from a million on", () =>
    fresh(
      Effect.gen(function* () {
        yield* Metric.value(Metric.histogram("sizes", { boundaries: [262_144, 1_000_000, 1_048_576, 16_777_216] }))
        assert.deepStrictEqual(bounds((yield* text).replaceAll("{", "{,"), "sizes"), [
          "262144",
          "1e+06",
          "1.048576e+06",
          "1.6777216e+07",
          "+Inf"
        ])
      })
    )
  )

  it.effect("leaves other labels with numbers unchanged", () =>
    fresh(
      Effect.gen(function* () {
        const gauge = Metric.withAttributes(Metric.gauge("g"), { name: 'x,le="1e-8"', whole: "1e-8" })
        yield* Metric.update(gauge, 1)
        assert.include(yield* text, String.raw`g{name="x,le=\"1e-8\"",whole="1e-8"} 1`)
      })
    )
  )

  it.effect("shows the metrics of the process", () =>
    fresh(
      Effect.gen(function* () {
        yield* Process.register(yield* Lag.make)
        const metrics = yield* text
        for (const name of [
          "process_cpu_seconds_total",
          "process_start_time_seconds",
          "process_resident_memory_bytes",
          "nodejs_eventloop_lag_seconds",
          "nodejs_heap_size_total_bytes",
          "nodejs_heap_size_used_bytes",
          "nodejs_external_memory_bytes"
        ]) {
          assert.match(metrics, new RegExp(`^${name} -?\\d`, "m"))
        }
        for (const kind of ["minor", "major", "incremental", "weakcb"]) {
          assert.match(metrics, new RegExp(`^nodejs_gc_duration_seconds_count{kind="${kind}"} \\d`, "m"))
        }
        if (process.platform !== "linux") return
        for (const name of [
          "process_virtual_memory_bytes",
          "process_virtual_memory_max_bytes",
          "process_open_fds",
          "process_max_fds",
          "process_network_receive_bytes_total",
          "process_network_transmit_bytes_total"
        ]) {
          assert.match(metrics, new RegExp(`^${name} [1-9]`, "m"))
        }
      }).pipe(Effect.scoped)
    )
  )

  it.effect("is served at its own path only", () =>
    fresh(
      Effect.gen(function* () {
        yield* LoopMetrics.of("a")
        const ask = (path: string) =>
          Effect.flatMap(handler(new Map()), (handle) =>
            handle({ method: "GET", path, query: new URLSearchParams(), bearer: undefined, body: noBody })
          )
        const answer = yield* ask("/metrics")
        assert.strictEqual(answer.contentType, "text/plain; version=0.0.4; charset=utf-8")
        assert.include(answer.body, 'controller_runtime_reconcile_total{controller="a",result="success"} 0\n')
        for (const path of ["/", "/metrics/x", "/healthz"]) assert.strictEqual((yield* ask(path)).status, 404)
      })
    )
  )

  it.effect.skipIf(Promtool.missing !== undefined)("passes promtool check metrics", () =>
    fresh(
      Effect.gen(function* () {
        yield* LoopMetrics.of("a")
        yield* Process.register(yield* Lag.make)
        assert.strictEqual(Promtool.complaints(yield* text), "")
        // The tool does reject invalid text.
        assert.match(Promtool.complaints("# TYPE a counter\na 1\n"), /_total/)
      }).pipe(Effect.scoped)
    )
  )
})
