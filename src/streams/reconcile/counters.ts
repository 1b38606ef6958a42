/**
 * Counters for hot paths: a plain object has the value of a series, and is registered as an Effect metric that reads it at each scrape.
 * `Metric.update` looks up the series each time, which is fast enough for each request, but not several times for each key.
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/**
 * A histogram of durations. They are observed in milliseconds and exported in seconds, as is usual in Prometheus. Bounds are ascending and
 * finite, in seconds; a duration belongs to the first bound that it does not exceed.
 */
export class Durations {
  private sum = 0
  private readonly bounds: ReadonlyArray<number>
  /** Milliseconds. */
  private readonly limits: Float64Array
  /** One count for each bound, and one for longer durations. */
  private readonly counts: Float64Array
  /** The first `pending` are observed and not counted in a bucket yet: counting many at once is cheaper. */
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

  /** Tries the bucket of the previous duration first, because consecutive durations are similar. */
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

  /** The state of the histogram, optionally with only some of its bounds. Minimum and maximum are those of the buckets. */
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

/** Registers series in the metric registry of a context. They are not removed, because alerts need series that stay. */
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
