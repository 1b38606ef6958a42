/** The metrics server's routes: all metrics, and the results of the probes' checks. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { type Handler, notFound } from "../../layers/http/handler.ts"

/** All metrics, and those of the probes' checks. */
export const paths: ReadonlyArray<string> = ["/metrics", "/metrics/slis"]

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/**
 * Histogram bounds are labels and are compared as text, so they are formatted as in Go: exponents have two digits and are used below 0.0001 and
 * from a million on. Source: client_golang expfmt, strconv.AppendFloat 'g'.
 */
const likeGo = (formatted: string): string =>
  formatted.replace(/([{,])le="([^"]*)"/g, (_, before: string, bound: string) => `${before}le="${goNumber(bound)}"`)

const goNumber = (written: string): string => {
  const value = Number(written)
  if (!Number.isFinite(value) || value === 0 || (value >= 1e-4 && value < 1e6)) return written
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2")
}

/** All series of a registry in the text format of Prometheus, version 0.0.4. */
export const text: Effect.Effect<string> = Effect.map(PrometheusMetrics.format(), likeGo)

/** Serves the metric registry of the caller, and that of the checks. */
export const handler = (slis: Metric.MetricRegistry): Effect.Effect<Handler> =>
  Effect.map(Effect.context(), (context): Handler => {
    const registries = [context, Context.add(context, Metric.MetricRegistry, slis)]
    return ({ path }) => {
      const registry = registries[paths.indexOf(path)]
      if (registry === undefined) return Effect.succeed(notFound)
      return Effect.map(Effect.provideContext(text, registry), (body) => ({
        status: 200,
        body,
        contentType
      }))
    }
  })
