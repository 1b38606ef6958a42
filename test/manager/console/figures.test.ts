/** Percentiles of the runs between two states of a histogram. */
import { assert, describe, it } from "@effect/vitest"
import { quantile } from "../../../src/manager/console/figures.ts"
import { Durations } from "../../../src/streams/reconcile/counters.ts"

const stateOf = (durations: Durations, ...millis: ReadonlyArray<number>) => {
  for (const one of millis) durations.observe(one)
  return durations.state()
}

describe("a percentile of run durations", () => {
  it("is none without runs", () => {
    const durations = new Durations([0.1, 1])
    assert.isNull(quantile(0.5, stateOf(durations), undefined))
    const before = stateOf(durations, 5)
    assert.isNull(quantile(0.5, durations.state(), before))
  })

  it("counts only the runs since the state before", () => {
    const durations = new Durations([0.1, 0.2, 1])
    const before = stateOf(durations, ...Array.from({ length: 100 }, () => 50))
    const now = stateOf(durations, 150, 150)
    assert.strictEqual(quantile(0.5, now, before), 150)
    assert.strictEqual(quantile(1, now, before), 200)
    assert.isBelow(quantile(0.5, now, undefined) ?? Infinity, 100)
  })

  it("of runs longer than the last bound is that bound", () => {
    assert.strictEqual(quantile(0.99, stateOf(new Durations([0.1, 1]), 30_000), undefined), 1000)
  })
})
