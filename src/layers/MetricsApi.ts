/**
 * Metrics of pods, of other objects and of systems outside the cluster: the three APIs that autoscalers use. An API server serves none of
 * them itself; a metrics server or an adapter does, so any of them may be missing, and the message of every failure is shown to the
 * user. Amounts are whole thousandths, rounded up. Nothing is cached between two calls.
 * Source: k8s.io/metrics, metrics.k8s.io/v1beta1, custom.metrics.k8s.io/v1beta2, external.metrics.k8s.io/v1beta1.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Discovery } from "./Discovery.ts"
import { KubeClient } from "./KubeClient.ts"
import * as Read from "./metricsApi/read.ts"
import * as Served from "./metricsApi/served.ts"
import type { Answer, MetricQuery, ObjectQuery, PodsQuery, MetricsSource } from "./metricsApi/source.ts"
import type { MetricValue, PodMetrics } from "./metricsApi/wire.ts"

export {
  type MetricQuery,
  MetricsError,
  type ObjectQuery,
  type PodsQuery,
  type ResourceQuery,
  type Sample,
  type Samples
} from "./metricsApi/source.ts"
export { customMetrics, externalMetrics, type MetricValue, PodMetrics } from "./metricsApi/wire.ts"

/** In-memory metrics. Each function is called for every query and returns undefined where that API is not served. */
export interface Memory {
  readonly pods?: ((namespace: string, selector: string) => ReadonlyArray<PodMetrics> | undefined) | undefined
  readonly custom?: ((query: PodsQuery | ObjectQuery) => ReadonlyArray<MetricValue> | undefined) | undefined
  readonly external?: ((query: MetricQuery) => ReadonlyArray<MetricValue> | undefined) | undefined
}

export class MetricsApi extends Context.Service<MetricsApi, Read.Reader>()("effect-controller-manager/MetricsApi") {
  /** The metrics that the cluster serves, read with the client. */
  static readonly layer: Layer.Layer<MetricsApi, never, KubeClient | Discovery> = Layer.effect(
    MetricsApi,
    Effect.gen(function* () {
      return MetricsApi.of(Read.through(Served.make(yield* KubeClient, yield* Discovery)))
    })
  )

  /** The metrics of a test. */
  static readonly layerMemory = (memory: Memory): Layer.Layer<MetricsApi> =>
    Layer.succeed(MetricsApi, MetricsApi.of(Read.through(remembered(memory))))
}

const remembered = ({ custom, external, pods }: Memory): MetricsSource => ({
  pods: ({ namespace, selector }) =>
    orMissing(() => pods?.(namespace, selector), Read.resourceApi, "pods.metrics.k8s.io"),
  custom: (query) => orMissing(() => custom?.(query), Read.customApi, undefined),
  external: (query) => orMissing(() => external?.(query), Read.externalApi, `${query.metric}.external.metrics.k8s.io`)
})

const orMissing = <A>(get: () => A | undefined, api: string, what: string | undefined): Answer<A> =>
  Effect.suspend(() => {
    const value = get()
    const why = what === undefined ? Served.noVersion : Served.notFound(what)
    return value === undefined ? Effect.fail(Read.unable(api, why)) : Effect.succeed(value)
  })
