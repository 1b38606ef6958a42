/** All series of a registry in the text format of Prometheus. Source: framework.md 2.10; Prometheus' exposition format 0.0.4. */
import * as Effect from "effect/Effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

/**
 * A bound is a label, compared as text: in Go's form exponents have two digits, and begin below 0.0001 and at a million. Source: client_golang expfmt,
 * strconv.AppendFloat 'g'.
 */
const likeGo = (formatted: string): string =>
  formatted.replace(/([{,])le="([^"]*)"/g, (_, before: string, bound: string) => `${before}le="${goNumber(bound)}"`)

const goNumber = (written: string): string => {
  const value = Number(written)
  if (!Number.isFinite(value) || value === 0 || (value >= 1e-4 && value < 1e6)) return written
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2")
}

export const text: Effect.Effect<string> = Effect.map(PrometheusMetrics.format(), likeGo)
