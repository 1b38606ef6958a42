/**
 * Sends traces, logs and metrics to a collector by OTLP, as JSON over HTTP. Closing it sends the rest, within a time limit. Loaded only if a
 * collector is configured. Of OpenTelemetry's environment variables it supports the headers, the service name and the resource attributes.
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import * as OtlpLogger from "effect/observability/OtlpLogger"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as Level from "../logs/level.ts"
import { clean } from "../logs/secrets.ts"
import { guard } from "./delivery.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface Options {
  readonly endpoint: URL
  readonly env: Environment
  /** The name of the program. */
  readonly name: string
  readonly version: string
}

/** For all three exporters together: a stop does not wait longer for a collector that does not respond. */
const shutdownTimeout = Duration.seconds(2)

export const layer = ({ endpoint, env, name, version }: Options) => {
  const base = withoutSlashes(endpoint.href)
  const options = (signal: string) => ({
    url: `${base}/v1/${signal}`,
    headers: headersOf(env["OTEL_EXPORTER_OTLP_HEADERS"]),
    resource: resourceOf(env, { name, version }),
    shutdownTimeout
  })
  return Layer.mergeAll(
    OtlpTracer.layer(options("traces")),
    OtlpMetrics.layer(options("metrics")),
    Layer.provideMerge(Logger.layer([logger(options("logs"))], { mergeWithExisting: true }), OtlpExporter.layerFlusher)
  ).pipe(
    Layer.provide(Layer.succeed(OtlpSerialization.OtlpSerialization, serialization)),
    Layer.provide(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (one) => guard(one, base))
      )
    ),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: defined(env) })))
  )
}

const withoutSlashes = (text: string): string => (text.endsWith("/") ? withoutSlashes(text.slice(0, -1)) : text)

/** A service name from another source takes precedence. */
const resourceOf = (env: Environment, { name, version }: Pick<Options, "name" | "version">) => ({
  serviceName: (env["OTEL_RESOURCE_ATTRIBUTES"] ?? "").includes("service.name=")
    ? undefined
    : env["OTEL_SERVICE_NAME"] || name,
  serviceVersion: version
})

/** `name=value` separated by commas, with percent-encoded values. Source: OpenTelemetry, "Specifying headers via environment variables". */
export const headersOf = (text = ""): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const at = pair.indexOf("=")
      const name = pair.slice(0, at).trim().toLowerCase()
      return at > 0 && name !== "" ? [[name, decoded(pair.slice(at + 1).trim())]] : []
    })
  )

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const defined = (env: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** Sends the same lines that the program prints. */
const logger = (options: Parameters<typeof OtlpLogger.make>[0]) =>
  Effect.map(OtlpLogger.make(options), (inner) =>
    Logger.make((said) => {
      if (said.fiber.getRef(Level.Current).admits(said.logLevel)) inner.log(said)
    })
  )

/** Error texts are redacted, as in the logs. */
const json = (data: unknown): HttpBody.HttpBody =>
  HttpBody.text(
    JSON.stringify(data, (_, value) => {
      if (typeof value === "string") return clean(value)
      return typeof value === "number" && !Number.isFinite(value) ? String(value) : value
    }),
    "application/json"
  )

const serialization = { traces: json, metrics: json, logs: json }
