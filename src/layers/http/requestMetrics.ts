/**
 * How many requests were answered how. Codes are the server's, and it has few; a request without an answer counts as `<error>`.
 * Source: framework.md 2.10; client-go.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Method } from "../Transport.ts"

const requests = Metric.counter("rest_client_requests_total", {
  description: "Requests to the API server, by code of the answer, method and host",
  incremental: true
})

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** Counts an answer with this code, or none. */
export type Count = (method: Method, code: number | undefined) => void

/** Of one host; in the registry of whoever makes it, where others may count for the same host. */
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
