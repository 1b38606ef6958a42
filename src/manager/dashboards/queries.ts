/**
 * Queries of Prometheus for the panels, from the name, the type and the labels of a metric. All select by the variables of the dashboard. Names are
 * those that the metrics server writes.
 */
import type { Family } from "../../streams/reconcile/metricFamily.ts"
import type { Panel, Query, Unit, Variable } from "./Dashboard.ts"

/** Every program of this library serves it from the start, and no other. */
const always = "leader_fenced_writes_total"

const chosen = `namespace=~"$namespace", job=~"$job"`

export const variables: ReadonlyArray<Variable> = [
  { name: "namespace", from: always },
  { name: "job", from: `${always}{namespace=~"$namespace"}` }
]

/** The variable `controller`, for metrics with that label. */
export const controller: Variable = {
  name: "controller",
  from: `controller_runtime_max_concurrent_reconciles{${chosen}}`
}

/** The variable `instance`, one for each replica. */
export const instance: Variable = { name: "instance", from: `${always}{${chosen}}` }

/** A series of the chosen programs; `more` is a matcher such as `controller=~"$controller"`. */
export const series = (metric: string, more?: string): string =>
  `${metric}{${chosen}${more === undefined ? "" : `, ${more}`}}`

const by = (labels: ReadonlyArray<string>): string => (labels.length === 0 ? "" : ` by (${labels.join(", ")})`)

const legendOf = (labels: ReadonlyArray<string>): string =>
  labels.length === 0 ? "all replicas" : labels.map((label) => `{{${label}}}`).join(" ")

/** Of all replicas together: on a standby counters stay at zero. */
export const rate = (metric: string, labels: ReadonlyArray<string>, more?: string): Query => ({
  expr: `sum${by(labels)} (rate(${series(metric, more)}[$__rate_interval]))`,
  legend: legendOf(labels)
})

export const sum = (metric: string, labels: ReadonlyArray<string>, more?: string): Query => ({
  expr: `sum${by(labels)} (${series(metric, more)})`,
  legend: legendOf(labels)
})

export const max = (metric: string, labels: ReadonlyArray<string>, more?: string): Query => ({
  expr: `max${by(labels)} (${series(metric, more)})`,
  legend: legendOf(labels)
})

export const min = (metric: string, labels: ReadonlyArray<string>, more?: string): Query => ({
  expr: `min${by(labels)} (${series(metric, more)})`,
  legend: legendOf(labels)
})

/** The 50th, 90th and 99th percentile of a histogram. */
export const percentiles = (metric: string, labels: ReadonlyArray<string>, more?: string): ReadonlyArray<Query> =>
  [0.5, 0.9, 0.99].map((share) => ({
    expr: `histogram_quantile(${share}, sum${by([...labels, "le"])} (rate(${series(`${metric}_bucket`, more)}[$__rate_interval])))`,
    legend: `p${share * 100}${labels.length === 0 ? "" : ` ${legendOf(labels)}`}`
  }))

/** With the name in front of each legend, where a panel has several queries. */
export const named = (name: string, query: Query): Query => ({ ...query, legend: `${name} ${query.legend}` })

/** Names as the metrics server writes them. Source: effect/observability PrometheusMetrics. */
const written = (name: string): string => {
  const valid = name.replace(/[^a-zA-Z0-9_:]/g, "_")
  return (/^[0-9:]/.test(valid) ? `_${valid}` : valid).replace(/_+/g, "_").replace(/_$/, "")
}

const unitOf = (metric: string): Unit =>
  /_seconds(_total)?$/.test(metric) ? "s" : /_bytes(_total)?$/.test(metric) ? "bytes" : "short"

/** The panel of a metric that a controller declares: the rate of a counter, the percentiles of a histogram, the largest value of a gauge. */
export const panelOf = ({ description, labels: declared, name, type }: Family): Panel => {
  const metric = written(name)
  const labels = declared.map(written)
  const of = {
    counter: () => [rate(metric, labels)],
    gauge: () => [max(metric, labels)],
    histogram: () => percentiles(metric, labels)
  }
  return {
    type: "timeseries",
    title: metric,
    description,
    unit: type === "counter" ? (unitOf(metric) === "bytes" ? "Bps" : "ops") : unitOf(metric),
    queries: of[type]()
  }
}
