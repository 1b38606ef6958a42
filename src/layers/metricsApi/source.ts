/** The queries of metrics, and the interface of a source of metrics, which returns what the metrics servers send. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { MetricValue, PodMetrics } from "./wire.ts"

/** The measurement of one pod. */
export interface Sample {
  /** When the window ended, in milliseconds since 1970. */
  readonly time: number
  /** The length of the window, in milliseconds. */
  readonly window: number
  /** Thousandths of the resource's or the metric's unit. */
  readonly amount: bigint
}

/** Measurements by the name of the pod. A pod without one is missing. */
export type Samples = ReadonlyMap<string, Sample>

/** There is no metric. The message says why, as in kube-controller-manager. */
export class MetricsError extends Data.TaggedError("MetricsError")<{ readonly message: string }> {}

/** A query for the usage of a resource by pods. */
export interface ResourceQuery {
  readonly namespace: string
  /** The label selector, in the query form. */
  readonly selector: string
  /** `cpu`, `memory`. */
  readonly resource: string
  /** The container; undefined for the sum of all containers. */
  readonly container: string | undefined
}

/** A metric by its name. */
export interface MetricQuery {
  readonly namespace: string
  readonly metric: string
  /** The selector of the metric's own labels, in the query form; empty for all. */
  readonly metricSelector: string
}

/** A metric of pods. */
export interface PodsQuery extends MetricQuery {
  /** The selector of pod labels, in the query form. */
  readonly selector: string
}

/** A metric of one object in the namespace, or of the namespace itself. */
export interface ObjectQuery extends MetricQuery {
  readonly object: { readonly apiVersion: string; readonly kind: string; readonly name: string }
}

export type Answer<A> = Effect.Effect<A, MetricsError>

/** A source of metrics: one method for each API, with the responses of its server. */
export interface MetricsSource {
  readonly pods: (query: { readonly namespace: string; readonly selector: string }) => Answer<ReadonlyArray<PodMetrics>>
  /** The metric of all pods of the selector, or of one object. */
  readonly custom: (query: PodsQuery | ObjectQuery) => Answer<ReadonlyArray<MetricValue>>
  readonly external: (query: MetricQuery) => Answer<ReadonlyArray<MetricValue>>
}
