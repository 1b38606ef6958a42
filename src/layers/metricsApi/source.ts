/** The questions that are asked of metrics, and what whoever answers them has to do: read them as their servers send them, no more. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { MetricValue, PodMetrics } from "./wire.ts"

/** What was measured of one pod. */
export interface Sample {
  /** When the window ended, in milliseconds since 1970. */
  readonly time: number
  /** Over how long it was measured, in milliseconds. */
  readonly window: number
  /** Thousandths of the resource's or the metric's unit. */
  readonly amount: bigint
}

/** By the name of the pod. A pod that was not measured is missing. */
export type Samples = ReadonlyMap<string, Sample>

/** Nothing was learned. The message says why, in the words of kube-controller-manager. */
export class MetricsError extends Data.TaggedError("MetricsError")<{ readonly message: string }> {}

/** Which pods' usage of a resource is asked for. */
export interface ResourceQuery {
  readonly namespace: string
  /** Of labels, in the query form. */
  readonly selector: string
  /** `cpu`, `memory`. */
  readonly resource: string
  /** Of this container alone; of all together when undefined. */
  readonly container: string | undefined
}

/** A metric by its name. */
export interface MetricQuery {
  readonly namespace: string
  readonly metric: string
  /** Of the metric's own labels, in the query form; empty for all. */
  readonly metricSelector: string
}

/** A metric of pods. */
export interface PodsQuery extends MetricQuery {
  /** Of the pods' labels, in the query form. */
  readonly selector: string
}

/** A metric of one object in the namespace, or of the namespace itself. */
export interface ObjectQuery extends MetricQuery {
  readonly object: { readonly apiVersion: string; readonly kind: string; readonly name: string }
}

export type Answer<A> = Effect.Effect<A, MetricsError>

/** The smallest thing that has metrics: three questions, answered as their servers answer them. */
export interface MetricsSource {
  readonly pods: (query: { readonly namespace: string; readonly selector: string }) => Answer<ReadonlyArray<PodMetrics>>
  /** Of all pods of the selector, or of one object. */
  readonly custom: (query: PodsQuery | ObjectQuery) => Answer<ReadonlyArray<MetricValue>>
  readonly external: (query: MetricQuery) => Answer<ReadonlyArray<MetricValue>>
}
