import { assert, describe, it } from "@effect/vitest"
import * as Backoff from "../../../src/streams/queue/backoff.ts"

describe("backoff", () => {
  it("doubles up to the maximum and stays there", () => {
    const backoff = Backoff.exponential({ base: "5 millis", max: "1000 seconds" })
    assert.deepStrictEqual(
      [0, 1, 2, 3, 17, 18, 10_000, Infinity].map(backoff),
      [5, 10, 20, 40, 655_360, 1_000_000, 1_000_000, 1_000_000]
    )
  })

  it("accepts unusual arguments", () => {
    assert.strictEqual(Backoff.exponential({ base: 0, max: 10 })(Infinity), 0)
    assert.strictEqual(Backoff.exponential({ base: 20, max: 10 })(0), 20)
    assert.strictEqual(Backoff.exponential({ base: 5, max: 10 })(-3), 5)
  })

  it("jitter spreads a delay in both directions", () => {
    assert.deepStrictEqual(
      [0, 0.5, 1].map((random) => Backoff.jitter(100, random)),
      [80, 100, 120]
    )
  })
})
