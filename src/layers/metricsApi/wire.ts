/** The responses of the metrics APIs, as far as they are used. Source: k8s.io/metrics. */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"

/** The usage of the containers of a pod. */
export interface PodMetrics extends KubeObject {
  /** When the window ended. */
  readonly timestamp?: string | undefined
  /** The length of the window, as Go formats a duration: `15.3s`. */
  readonly window?: string | undefined
  readonly containers?:
    | ReadonlyArray<{
        readonly name: string
        /** Quantities by resource. */
        readonly usage?: Readonly<Record<string, string>> | undefined
      }>
    | undefined
}
export const PodMetrics = Resource.make<PodMetrics>()({
  group: "metrics.k8s.io",
  version: "v1beta1",
  kind: "PodMetrics",
  plural: "pods"
})

/** One value of a custom or external metric. */
export interface MetricValue {
  /** The object that the metric describes; external metrics have none. */
  readonly describedObject?: { readonly name?: string | undefined } | undefined
  /** When the window ended. */
  readonly timestamp?: string | undefined
  /** Seconds. Default: 60. */
  readonly windowSeconds?: number | null | undefined
  /** A quantity. */
  readonly value?: string | undefined
}

/** The resource in permissions, for metrics of any name. */
export const customMetrics = Resource.make<KubeObject>()({
  group: "custom.metrics.k8s.io",
  version: "*",
  kind: "*",
  plural: "*"
})

/** See {@link customMetrics}. */
export const externalMetrics = Resource.make<KubeObject>()({
  group: "external.metrics.k8s.io",
  version: "v1beta1",
  kind: "*",
  plural: "*"
})
