/**
 * Metrics of webhooks, under controller-runtime's names. Series exist before the first review. Source: controller-runtime:
 * pkg/webhook/internal/metrics.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const counter = (name: string, description: string) =>
  Metric.counter(`controller_runtime_${name}`, { description, incremental: true })

const requests = counter("webhook_requests_total", "Reviews that were answered, by path and HTTP code")
const panics = counter("webhook_panics_total", "Reviews of admission that a handler broke on")
const conversionPanics = counter("conversion_webhook_panics_total", "Reviews of conversion that a handler broke on")

const inFlight = Metric.gauge("controller_runtime_webhook_requests_in_flight", {
  description: "Reviews that are being answered, by path"
})

/** From 10 ns to 1000 s, computed by repeated multiplication as in controller-runtime, so that the bounds have the same text. */
const bounds = [1e-8]
while (bounds.length < 12) bounds.push((bounds.at(-1) ?? 0) * 10)

const latency = Metric.histogram("controller_runtime_webhook_latency_seconds", {
  description: "Time until a review was answered, by path",
  boundaries: bounds
})

export interface Metrics {
  readonly begun: () => void
  /** `code`: the status code, or undefined if the client has disconnected. `millis`: the duration. */
  readonly ended: (code: number | undefined, millis: number) => void
  readonly panicked: () => void
}

/** Metrics of one path, in the metric registry of the caller. */
export const make = (webhook: string, isConversion: boolean): Effect.Effect<Metrics> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.sync(() => {
      const flying = Metric.withAttributes(inFlight, { webhook })
      const elapsed = Metric.withAttributes(latency, { webhook })
      const broken = isConversion ? conversionPanics : panics
      const count = (code: number, times: number) =>
        Metric.withAttributes(requests, { webhook, code: String(code) }).updateUnsafe(times, context)
      for (const code of [200, 500]) count(code, 0)
      for (const metric of [panics, conversionPanics]) metric.updateUnsafe(0, context)
      flying.updateUnsafe(0, context)
      elapsed.valueUnsafe(context)
      let running = 0
      return {
        begun: () => flying.updateUnsafe(++running, context),
        ended: (code, millis) => {
          flying.updateUnsafe(--running, context)
          elapsed.updateUnsafe(millis / 1000, context)
          if (code !== undefined) count(code, 1)
        },
        panicked: () => broken.updateUnsafe(1, context)
      }
    })
  )
