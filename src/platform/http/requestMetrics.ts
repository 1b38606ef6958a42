/**
 * Counts requests by status code, and, if a setting enables it, measures their duration and size. Status codes come from the server, which uses
 * few; a request without a response counts as `<error>`. No label contains a path or a name, so the number of series is bounded. Source:
 * client-go's tools/metrics.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Method } from "../../layers/Transport.ts"

const requests = Metric.counter("rest_client_requests_total", {
  description: "Requests to the API server, by code of the answer, method and host",
  incremental: true
})

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** Counts one request with the status code of its response, or without a response. */
export type Count = (method: Method, code: number | undefined) => void

/** Counts for one host, in the metric registry of the caller; other transports to the same host share the series. */
export const make = (host: string): Effect.Effect<Count> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.sync(() => {
      const series = new Map<string, Metric.Metric<number, unknown>>()
      const add = (method: Method, code: string, times: number): void => {
        const key = `${code} ${method}`
        const metric = series.get(key) ?? Metric.withAttributes(requests, { code, method, host })
        series.set(key, metric)
        metric.updateUnsafe(times, context)
      }
      for (const method of methods) add(method, "200", 0)
      return (method, code) => add(method, code === undefined ? "<error>" : String(code), 1)
    })
  )

/** Whether requests are measured, and not only counted. */
export const Wanted = Context.Reference<boolean>("effect-controller-manager/DetailedRequestMetrics", {
  defaultValue: () => false
})

const latencies = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

const histogram = (name: string, description: string, boundaries: ReadonlyArray<number>) =>
  Metric.histogram(`rest_client_${name}`, { description, boundaries })

const durations = histogram(
  "request_duration_seconds",
  "Time until a request had its whole answer, or failed, by verb and host",
  latencies
)
const limiter = histogram(
  "rate_limiter_duration_seconds",
  "Time that requests waited for our own limit, by verb and host",
  latencies
)
const resolutions = histogram(
  "dns_resolution_duration_seconds",
  "Time to resolve the host of the server",
  latencies.slice(0, -1)
)
const requestSizes = histogram("request_size_bytes", "Size of the bodies of requests, by verb and host", sizes)
const responseSizes = histogram("response_size_bytes", "Size of the bodies of answers, by verb and host", sizes)
const retries = Metric.counter("rest_client_request_retries_total", {
  description: "Requests that were sent again, by code of the answer to that, verb and host",
  incremental: true
})

/** Times in milliseconds, sizes in bytes. */
export interface Detail {
  readonly answered: (verb: Method, millis: number) => void
  readonly limited: (verb: Method, millis: number) => void
  readonly resolved: (millis: number) => void
  readonly sent: (verb: Method, bytes: number) => void
  readonly received: (verb: Method, bytes: number) => void
  /** A request was sent again. The code is that of its response; undefined if there was none. */
  readonly repeated: (verb: Method, code: number | undefined) => void
}

/** The measurements for a host; undefined if they are not enabled. */
export const detail = (host: string): Effect.Effect<Detail | undefined> =>
  Effect.flatMap(Wanted, (isWanted) =>
    isWanted
      ? Effect.contextWith((context: Context.Context<never>) => Effect.sync(() => measuring(host, context)))
      : Effect.undefined
  )

const measuring = (host: string, context: Context.Context<never>): Detail => {
  const byVerb = (metric: Metric.Histogram<number>, factor: number) => {
    const series = new Map(methods.map((verb) => [verb, Metric.withAttributes(metric, { verb, host })] as const))
    // Series start at zero, so that the first observation counts as an increase.
    for (const one of series.values()) one.valueUnsafe(context)
    return (verb: Method, value: number) => series.get(verb)?.updateUnsafe(value * factor, context)
  }
  const resolution = Metric.withAttributes(resolutions, { host })
  resolution.valueUnsafe(context)
  for (const verb of methods) Metric.withAttributes(retries, { code: "200", verb, host }).updateUnsafe(0, context)
  return {
    answered: byVerb(durations, 0.001),
    limited: byVerb(limiter, 0.001),
    resolved: (millis) => resolution.updateUnsafe(millis / 1000, context),
    sent: byVerb(requestSizes, 1),
    received: byVerb(responseSizes, 1),
    repeated: (verb, status) => {
      const code = status === undefined ? "<error>" : String(status)
      Metric.withAttributes(retries, { code, verb, host }).updateUnsafe(1, context)
    }
  }
}
