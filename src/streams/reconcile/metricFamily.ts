/**
 * Metric families as in Prometheus: a name, a type and the names of the labels, declared once; an update takes a value for each label. A
 * controller declares its families, so that those without labels are exported with zero before the first update.
 * Source: client_golang's CounterVec, GaugeVec and HistogramVec.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/** The declaration of a family. */
export interface Family {
  /** The name of the metric. */
  readonly name: string
  /** The type of the metric in Prometheus. */
  readonly type: "counter" | "gauge" | "histogram"
  /** What is counted or measured, in one sentence. */
  readonly description: string
  /** The names of the labels of each of its series, in alphabetical order. */
  readonly labels: ReadonlyArray<string>
  /** Of a histogram: the finite upper bounds of its buckets. */
  readonly bounds: ReadonlyArray<number>
  /** Makes the series of a family without labels, with zero. Series with labels are not known in advance. */
  readonly preset: Effect.Effect<void>
}

/** The values of the labels, if there are labels. */
type Values<L extends string> = [L] extends [never] ? [] : [values: Readonly<Record<L, string>>]

/** A family of counters, one for each combination of labels; they only increase. */
export interface Counter<L extends string> extends Family {
  /** Adds to the counter; zero only makes the series. */
  readonly add: (count: number, ...values: Values<L>) => Effect.Effect<void>
  /** `add` for synchronous callers, in the metric registry of the context. */
  readonly addUnsafe: (context: Context.Context<never>, count: number, ...values: Values<L>) => void
}

/** A family of gauges, one for each combination of labels; each has its latest value. */
export interface Gauge<L extends string> extends Family {
  /** Sets the value. */
  readonly set: (value: number, ...values: Values<L>) => Effect.Effect<void>
  /** Removes the series. */
  readonly remove: (...values: Values<L>) => Effect.Effect<void>
}

/** A family of histograms, one for each combination of labels, which count values in buckets. */
export interface Histogram<L extends string> extends Family {
  /** Adds a measurement. */
  readonly observe: (value: number, ...values: Values<L>) => Effect.Effect<void>
  /** Adds many measurements of one series. */
  readonly observeAll: (measured: Iterable<number>, ...values: Values<L>) => Effect.Effect<void>
}

/** A family of counters. */
export const counter = <const L extends string = never>(
  name: string,
  description: string,
  labels: ReadonlyArray<L> = []
): Counter<L> => {
  const metric = Metric.counter(name, { description, incremental: true })
  const add = (count: number, values?: Labels) => Metric.update(seriesOf(metric, values), count)
  const addUnsafe = (context: Context.Context<never>, count: number, values?: Labels) =>
    seriesOf(metric, values).updateUnsafe(count, context)
  return { ...about("counter", metric, labels), preset: preset(labels, add(0)), add, addUnsafe }
}

/** A family of gauges. */
export const gauge = <const L extends string = never>(
  name: string,
  description: string,
  labels: ReadonlyArray<L> = []
): Gauge<L> => {
  const metric = Metric.gauge(name, { description })
  const set = (value: number, values?: Labels) => Metric.update(seriesOf(metric, values), value)
  const remove = (values?: Labels) => Metric.remove(seriesOf(metric, values))
  return { ...about("gauge", metric, labels), preset: preset(labels, set(0)), set, remove }
}

/** A family of histograms. `bounds`: ascending; see {@link exponential}. */
export const histogram = <const L extends string = never>(
  name: string,
  description: string,
  bounds: ReadonlyArray<number>,
  labels: ReadonlyArray<L> = []
): Histogram<L> => {
  const metric = Metric.histogram(name, { description, boundaries: bounds })
  const observe = (value: number, values?: Labels) => Metric.update(seriesOf(metric, values), value)
  const observeAll = (measured: Iterable<number>, values?: Labels) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const series = seriesOf(metric, values)
      return Effect.sync(() => {
        for (const value of measured) series.updateUnsafe(value, context)
      })
    })
  return {
    ...about("histogram", metric, labels),
    bounds,
    preset: preset(labels, Effect.asVoid(Metric.value(metric))),
    observe,
    observeAll
  }
}

/** `count` bounds, each `factor` times the one before, multiplied in the same way as in client_golang, so that the texts are the same. */
export const exponential = (start: number, factor: number, count: number): ReadonlyArray<number> => {
  const bounds = [start]
  while (bounds.length < count) bounds.push((bounds.at(-1) ?? start) * factor)
  return bounds
}

/** The default buckets. Source: client_golang DefBuckets. */
export const defaultBounds: ReadonlyArray<number> = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

type Labels = Readonly<Record<string, string>>

const seriesOf = <I, S>(metric: Metric.Metric<I, S>, values: Labels | undefined): Metric.Metric<I, S> =>
  values === undefined ? metric : Metric.withAttributes(metric, values)

const about = <T extends Family["type"]>(
  type: T,
  { description = "", id: name }: Metric.Metric<never, unknown>,
  labels: ReadonlyArray<string>
) => ({ name, type, description, labels: labels.toSorted(), bounds: [] })

const preset = (labels: ReadonlyArray<string>, first: Effect.Effect<void>): Effect.Effect<void> =>
  labels.length === 0 ? first : Effect.void
