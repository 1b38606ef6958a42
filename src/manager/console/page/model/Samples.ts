/** Samples of the last five minutes. Older ones are dropped, and there are never more than one a second. */

export const window = 5 * 60_000

const most = 300

export interface Sample {
  readonly at: number
  readonly value: number
}

export class Samples {
  readonly #samples: Array<Sample> = []

  get all(): ReadonlyArray<Sample> {
    return this.#samples
  }

  get last(): number | undefined {
    return this.#samples.at(-1)?.value
  }

  add(at: number, value: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && at <= last.at) return
    this.#samples.push({ at, value })
    const isOld = (sample: Sample | undefined) => sample !== undefined && sample.at < at - window
    let old = Math.max(0, this.#samples.length - most)
    while (isOld(this.#samples[old])) old++
    if (old > 0) this.#samples.splice(0, old)
  }
}
