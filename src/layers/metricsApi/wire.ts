/** What the metrics APIs answer with, as far as it is read. Source: k8s.io/metrics. */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"

/** What the containers of a pod used. */
export interface PodMetrics extends KubeObject {
  /** When the window ended. */
  readonly timestamp?: string | undefined
  /** How long it was, in Go's form: `15.3s`. */
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

/** One value of a metric, of an object or of a system outside. */
export interface MetricValue {
  /** Whose it is; external metrics have none. */
  readonly describedObject?: { readonly name?: string | undefined } | undefined
  /** When the window ended. */
  readonly timestamp?: string | undefined
  /** Seconds; a minute unless said otherwise. */
  readonly windowSeconds?: number | null | undefined
  /** A quantity. */
  readonly value?: string | undefined
}

/** For permissions: metrics of any name. */
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
