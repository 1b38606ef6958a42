/**
 * Families of metrics as Prometheus has them: a name, a type and the names of the labels, declared once; an update takes a value for each of the labels. A
 * controller declares the families that it counts in, so that those without labels are there, at zero, before there is anything to count.
 * Source: client_golang's CounterVec, GaugeVec and HistogramVec.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/** What is known of a family without looking at its values. */
export interface Family {
  /** As it is scraped. */
  readonly name: string
  /** As Prometheus calls it. */
  readonly type: "counter" | "gauge" | "histogram"
  /** What is counted or measured, in one sentence. */
  readonly description: string
  /** The names of the labels of each of its series, in alphabetical order. */
  readonly labels: ReadonlyArray<string>
  /** Of a histogram: the finite upper bounds of its buckets. */
  readonly bounds: ReadonlyArray<number>
  /** Makes the series of a family without labels, at zero; of one with labels the series are not known in advance. */
  readonly preset: Effect.Effect<void>
}

/** The values of the labels, where there are labels. */
type Values<L extends string> = [L] extends [never] ? [] : [values: Readonly<Record<L, string>>]

/** Counts what happens. */
export interface Counter<L extends string> extends Family {
  /** So many more; zero makes the series if there is none. */
  readonly add: (count: number, ...values: Values<L>) => Effect.Effect<void>
  /** `add` for synchronous callers, in the registry of that context. */
  readonly addUnsafe: (context: Context.Context<never>, count: number, ...values: Values<L>) => void
}

/** Shows what is now. */
export interface Gauge<L extends string> extends Family {
  /** In place of what it was. */
  readonly set: (value: number, ...values: Values<L>) => Effect.Effect<void>
  /** What the series is of is gone. */
  readonly remove: (...values: Values<L>) => Effect.Effect<void>
}

/** Sorts what is measured into buckets. */
export interface Histogram<L extends string> extends Family {
  /** One measurement. */
  readonly observe: (value: number, ...values: Values<L>) => Effect.Effect<void>
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
  return {
    ...about("histogram", metric, labels),
    bounds,
    preset: preset(labels, Effect.asVoid(Metric.value(metric))),
    observe
  }
}

/** So many bounds, each `factor` times the one before, multiplied up as client_golang does: the same doubles, and so the same texts. */
export const exponential = (start: number, factor: number, count: number): ReadonlyArray<number> => {
  const bounds = [start]
  while (bounds.length < count) bounds.push((bounds.at(-1) ?? start) * factor)
  return bounds
}

/** The buckets of whoever names none. Source: client_golang DefBuckets. */
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
