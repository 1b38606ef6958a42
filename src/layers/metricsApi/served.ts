/**
 * The metrics APIs over HTTP, as an API server proxies them to their servers. A missing server is reported with the messages of client-go,
 * because users search for them. The served version of custom metrics is looked up at most every 15 seconds.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Discovery } from "../Discovery.ts"
import type { KubeClient } from "../KubeClient.ts"
import type { MetricsError, ObjectQuery, PodsQuery, MetricsSource } from "./source.ts"
import type { Query } from "../Transport.ts"
import * as Read from "./read.ts"
import { type MetricValue, PodMetrics } from "./wire.ts"

type Client = KubeClient["Service"]

const missing = "the server could not find the requested resource"

/** The API is not served. */
export const notFound = (what: string): string => `${missing} (get ${what})`

/** Custom metrics are not served. */
export const noVersion = "no known available metric versions found"

/** The deadline of a request: autoscalers ask again soon, and all of them would wait for a server that is down. */
const once = { retries: 0 } as const

/** The supported versions, the preferred one first. Source: custom_metrics.MetricVersions. */
const versions = ["v1beta2", "v1beta1"]

/** Nanoseconds for which the version is cached, as in kube-controller-manager. */
const stands = 15_000_000_000n

export const make = (client: Client, discovery: Discovery["Service"]): MetricsSource => {
  const versionOf = customVersion(client)
  return {
    pods: ({ namespace, selector }) =>
      client.list(PodMetrics, { namespace, labelSelector: selector, ...once }).pipe(
        Effect.map(({ items }) => items),
        Effect.mapError((error) => Read.unable(Read.resourceApi, messageOf(error, "pods.metrics.k8s.io")))
      ),
    custom: (query) =>
      Effect.gen(function* () {
        const version = yield* versionOf
        if (version === undefined) return yield* Read.unable(Read.customApi, noVersion)
        const { name, path, what } = yield* customPath(discovery, query)
        const whole = `/apis/custom.metrics.k8s.io/${version}/namespaces/${encodeURIComponent(query.namespace)}/${path}`
        const search = {
          labelSelector: "selector" in query ? query.selector : undefined,
          metricLabelSelector: query.metricSelector === "" ? undefined : query.metricSelector
        }
        return yield* values(client, { path: whole, query: search }).pipe(
          Effect.mapError((error) =>
            Read.unable(Read.customApi, messageOf(error, `${what}.custom.metrics.k8s.io ${name}`))
          )
        )
      }),
    external: ({ metric, metricSelector, namespace }) => {
      const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(metric)}`
      const query = { labelSelector: metricSelector === "" ? undefined : metricSelector }
      return values(client, { path, query }).pipe(
        Effect.mapError((error) => Read.unable(Read.externalApi, messageOf(error, `${metric}.external.metrics.k8s.io`)))
      )
    }
  }
}

/** The message of the server; for a response with only a status code, that of client-go. */
const messageOf = ({ detail, details, status }: ApiError.ApiError, what: string): string => {
  if (status === 404 && detail === missing) return notFound(what)
  if (details !== undefined || status === undefined) return detail
  if (status === 404) return notFound(what)
  return status === 503 ? `the server is currently unable to handle the request (get ${what})` : detail
}

const values = (
  client: Client,
  { path, query }: { readonly path: string; readonly query: Query }
): Effect.Effect<ReadonlyArray<MetricValue>, ApiError.ApiError> =>
  Effect.map(client.raw({ method: "GET", path, query, context: { verb: "get", path } }, once), ({ body }) =>
    itemsOf(body)
  )

const itemsOf = (body: unknown): ReadonlyArray<MetricValue> => {
  const items = typeof body === "object" && body !== null && "items" in body ? body.items : undefined
  return Array.isArray(items) ? items.filter((item) => typeof item === "object" && item !== null) : []
}

/** The version to use; undefined where none is served. */
const customVersion = (client: Client) => {
  const path = "/apis/custom.metrics.k8s.io"
  let known: { readonly version: string | undefined; readonly at: bigint } | undefined
  return Effect.gen(function* () {
    const now = yield* Clock.monotonicTimeNanos
    if (known !== undefined && now - known.at < stands) return known.version
    const answer = yield* Effect.result(client.raw({ method: "GET", path, context: { verb: "discover", path } }, once))
    if (Result.isFailure(answer) && answer.failure.status !== 404) {
      return yield* Read.unable(Read.customApi, answer.failure.detail)
    }
    const served = Result.isSuccess(answer) ? versionsOf(answer.success.body) : []
    const version = versions.find((one) => served.includes(one))
    known = { version, at: now }
    return version
  })
}

const versionsOf = (body: unknown): ReadonlyArray<string> => {
  const all = typeof body === "object" && body !== null && "versions" in body ? body.versions : undefined
  return Array.isArray(all) ? all.map((one: { readonly version?: unknown }) => String(one.version)) : []
}

interface Place {
  /** Below the namespace, escaped. */
  readonly path: string
  /** The resource, and the object's name, for failures. */
  readonly what: string
  readonly name: string
}

/** The metrics of a namespace are below its own path; those of pods are read all at once. */
const customPath = (
  discovery: Discovery["Service"],
  query: PodsQuery | ObjectQuery
): Effect.Effect<Place, MetricsError> => {
  const metric = encodeURIComponent(query.metric)
  if (!("object" in query)) return Effect.succeed({ path: `pods/*/${metric}`, what: "pods", name: "*" })
  const { apiVersion, kind, name } = query.object
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : ""
  if (kind === "Namespace" && group === "") {
    return Effect.succeed({ path: `metrics/${metric}`, what: "metrics", name: query.metric })
  }
  return discovery.resourceFor({ group, kind }).pipe(
    Effect.map((resource) => {
      const what = Resource.qualifiedName(resource)
      return { path: `${what}/${encodeURIComponent(name)}/${metric}`, what, name }
    }),
    Effect.mapError((error) =>
      Read.unable(
        Read.customApi,
        error._tag === "NotServed" ? `no matches for kind "${kind}" in group "${group}"` : error.detail
      )
    )
  )
}
