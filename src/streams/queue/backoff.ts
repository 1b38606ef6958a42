/**
 * Exponential delays, as pure functions of the number of failures in a row. The keyed queue uses them for each key, a watch for itself.
 * The caller keeps the count, and adds jitter with a random number of its own (Effect's `Random`) where many clients could retry
 * together.
 */
import * as Duration from "effect/Duration"

export interface Options {
  /** The delay after the first failure. */
  readonly base: Duration.Input
  /** No delay is longer. */
  readonly max: Duration.Input
}

/** Maps the number of failures before this one (0, 1, 2, …) to a delay in milliseconds. */
export type Backoff = (failures: number) => number

/** Doubling any base this often exceeds every maximum; beyond it `2 ** n` would reach infinity. */
const maxDoublings = 1000

/** `base × 2^failures`, never more than `max`. */
export const exponential = (options: Options): Backoff => {
  const base = Math.max(0, Duration.toMillis(options.base))
  const max = Math.max(base, Duration.toMillis(options.max))
  return (failures) => (base === 0 ? 0 : Math.min(max, base * 2 ** Math.min(Math.max(0, failures), maxDoublings)))
}

/** Spreads a delay over `[delay × (1 - fraction), delay × (1 + fraction)]` by `random`, a number in `[0, 1)`. */
export const jitter = (delay: number, random: number, fraction = 0.2): number =>
  Math.max(0, delay * (1 + fraction * (2 * random - 1)))
