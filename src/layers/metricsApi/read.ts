/**
 * Evaluates the responses of the metrics APIs, for every source of metrics: sums over containers, windows and times, and the messages
 * that say why there is no metric. Source: pkg/controller/podautoscaler/metrics of kube-controller-manager.
 */
import * as Effect from "effect/Effect"
import * as Quantity from "../../kube/quantity.ts"
import * as Time from "../../kube/time.ts"
import {
  type Answer,
  type MetricQuery,
  MetricsError,
  type ObjectQuery,
  type PodsQuery,
  type ResourceQuery,
  type Sample,
  type Samples,
  type MetricsSource
} from "./source.ts"
import type { MetricValue, PodMetrics } from "./wire.ts"

export const resourceApi = "resource metrics API"
export const customApi = "custom metrics API"
export const externalApi = "external metrics API"

/** The API did not respond, or its response had no metrics. */
export const unable = (api: string, why: string): MetricsError =>
  new MetricsError({ message: `unable to fetch metrics from ${api}: ${why}` })

/** The queries of autoscalers. */
export interface Reader {
  /** Usage of a resource by pods. Fails without any measurement; a pod without such a container is missing. */
  readonly resource: (query: ResourceQuery) => Answer<Samples>
  /** A metric of pods. */
  readonly pods: (query: PodsQuery) => Answer<Samples>
  /** A metric of one object, in thousandths. */
  readonly object: (query: ObjectQuery) => Answer<bigint>
  /** All values of an external metric, at least one, in thousandths. */
  readonly external: (query: MetricQuery) => Answer<ReadonlyArray<bigint>>
}

const fail = (message: string) => Effect.fail(new MetricsError({ message }))

/** The window, in milliseconds, of a metric that has none. */
const usualWindow = 60_000

export const through = (source: MetricsSource): Reader => ({
  resource: ({ container, namespace, resource, selector }) =>
    Effect.flatMap(source.pods({ namespace, selector }), (found) => {
      if (found.length === 0) return fail(`no metrics returned from ${resourceApi}`)
      return Effect.succeed(
        container === undefined ? ofPods(found, resource) : ofContainers(found, resource, container)
      )
    }),
  pods: (query) =>
    Effect.flatMap(source.custom(query), (values) =>
      values.length === 0 ? fail(`no metrics returned from ${customApi}`) : Effect.succeed(byPod(values))
    ),
  object: (query) =>
    Effect.flatMap(source.custom(query), (values) => {
      const [value, ...more] = values
      if (value !== undefined && more.length === 0) return amountOf(value, customApi)
      const count = `the custom metrics API server returned ${values.length} results when we asked for exactly one`
      return Effect.fail(unable(customApi, count))
    }),
  external: (query) =>
    Effect.flatMap(source.external(query), (values) =>
      values.length === 0
        ? fail(`no metrics returned from ${externalApi}`)
        : Effect.forEach(values, (value) => amountOf(value, externalApi))
    )
})

/** An invalid quantity is an error and not zero, which would remove replicas. Source: resource.ErrFormatWrong. */
const amountOf = ({ value }: MetricValue, api: string): Answer<bigint> => {
  const amount = Quantity.milli(value)
  return amount === undefined
    ? Effect.fail(
        unable(api, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
      )
    : Effect.succeed(amount)
}

const sampleOf = ({ timestamp, window }: PodMetrics, amount: bigint): Sample => ({
  time: Time.parse(timestamp) ?? 0,
  window: Time.parseGoDuration(window) ?? 0,
  amount
})

/** A pod with a container that was not measured is left out, because its total is unknown. */
const ofPods = (found: ReadonlyArray<PodMetrics>, resource: string): Samples => {
  const samples = new Map<string, Sample>()
  for (const one of found) {
    const amounts = (one.containers ?? []).map(({ usage }) => Quantity.milli(usage?.[resource]))
    const known = amounts.filter((amount) => amount !== undefined)
    if (known.length === 0 || known.length < amounts.length) continue
    samples.set(
      one.metadata.name,
      sampleOf(
        one,
        known.reduce((sum, amount) => sum + amount, 0n)
      )
    )
  }
  return samples
}

const ofContainers = (found: ReadonlyArray<PodMetrics>, resource: string, container: string): Samples => {
  const samples = new Map<string, Sample>()
  for (const one of found) {
    const measured = one.containers?.find(({ name }) => name === container)
    const amount = Quantity.milli(measured?.usage?.[resource])
    if (amount !== undefined) samples.set(one.metadata.name, sampleOf(one, amount))
  }
  return samples
}

const byPod = (values: ReadonlyArray<MetricValue>): Samples => {
  const samples = new Map<string, Sample>()
  for (const { describedObject, timestamp, value, windowSeconds } of values) {
    const amount = Quantity.milli(value)
    if (amount === undefined) continue
    const window = typeof windowSeconds === "number" ? windowSeconds * 1000 : usualWindow
    samples.set(describedObject?.name ?? "", { time: Time.parse(timestamp) ?? 0, window, amount })
  }
  return samples
}
