/**
 * Counting where counting must cost nearly nothing: a plain object that is the one truth of a series, and its registration as an
 * Effect metric that is read at each scrape. `Metric.update` looks the series up each time, which is fine once a request
 * and too much several times a key.
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/**
 * Durations by length. They are observed in milliseconds, as clocks here measure, and are shown in seconds, as Prometheus wants them.
 * Bounds ascending and finite, in seconds; a duration belongs to the first it does not exceed.
 */
export class Durations {
  private sum = 0
  private readonly bounds: ReadonlyArray<number>
  /** Milliseconds. */
  private readonly limits: Float64Array
  /** One for each bound, and one for what is above them all. */
  private readonly counts: Float64Array
  /** Observed and not sorted in yet, the first `pending` of them: sorting in many at once costs each a fraction. */
  private readonly recent = new Float64Array(512)
  private pending = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.limits = Float64Array.from(bounds, (bound) => bound * 1000)
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(millis: number): void {
    this.recent[this.pending++] = millis
    if (this.pending === this.recent.length) this.sortIn()
  }

  get count(): number {
    this.sortIn()
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** Looks first where the one before belongs: neighbours are alike. */
  private sortIn(): void {
    const { counts, limits, recent } = this
    let { sum } = this
    let slot = 0
    for (let i = 0; i < this.pending; i++) {
      const millis = recent[i] as number
      while (slot < limits.length && millis > (limits[slot] as number)) slot++
      while (slot > 0 && millis <= (limits[slot - 1] as number)) slot--
      counts[slot] = (counts[slot] as number) + 1
      sum += millis
    }
    this.sum = sum
    this.pending = 0
  }

  /** In coarser buckets if asked to: any of its own bounds. The shortest and the longest are known by their buckets only. */
  state(bounds: ReadonlyArray<number> = this.bounds): Metric.HistogramState {
    this.sortIn()
    const buckets: Array<[number, number]> = []
    let below = 0
    this.bounds.forEach((bound, slot) => {
      below += this.counts[slot] ?? 0
      if (bounds.includes(bound)) buckets.push([bound, below])
    })
    const first = this.counts.findIndex((count) => count > 0)
    const last = this.counts.findLastIndex((count) => count > 0)
    const sum = this.sum / 1000
    return { buckets, count: this.count, min: this.bounds[first - 1] ?? 0, max: this.bounds[last] ?? sum, sum }
  }
}

type Labels = Readonly<Record<string, string>>

const none = { update: () => undefined, modify: () => undefined }

/** Registers series in the registry of a context, where they stay: a series that comes and goes cannot be alerted on. */
export const registrar = (context: Context.Context<never>) => ({
  counter: (metric: Metric.Counter<number>, labels: Labels, count: () => number): void => {
    const get = () => ({ count: count(), incremental: true })
    Metric.registerUnsafe(Metric.withAttributes(metric, labels), context, { get, ...none })
  },
  gauge: (metric: Metric.Gauge<number>, labels: Labels, value: () => number): Metric.Registration => {
    const get = () => ({ value: value() })
    return Metric.registerUnsafe(Metric.withAttributes(metric, labels), context, { get, ...none })
  },
  histogram: (metric: Metric.Histogram<number>, labels: Labels, state: () => Metric.HistogramState): void => {
    Metric.registerUnsafe(Metric.withAttributes(metric, labels), context, { get: state, ...none })
  }
})

export type Registrar = ReturnType<typeof registrar>
