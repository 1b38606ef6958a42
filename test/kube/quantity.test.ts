/** Amounts in thousandths, as autoscalers count them. */
import { assert, describe, it } from "@effect/vitest"
import * as Quantity from "../../src/kube/quantity.ts"

describe("thousandths", () => {
  it("are rounded up", () => {
    const rows = [
      ["1", 1000n],
      ["250m", 250n],
      ["1500u", 2n],
      ["1n", 1n],
      ["0", 0n],
      ["1.5Ki", 1_536_000n],
      ["-1500u", -1n],
      ["8Ei", 9_223_372_036_854_775_808_000n]
    ] as const
    for (const [text, amount] of rows) assert.strictEqual(Quantity.milli(text), amount, text)
    for (const text of [undefined, "", "much", null]) assert.isUndefined(Quantity.milli(text))
  })

  it("are written as the API server writes them", () => {
    const rows = [
      [0n, "0"],
      [250n, "250m"],
      [1500n, "1500m"],
      [2000n, "2"],
      [10_485_760_000n, "10485760"],
      [5_000_000n, "5k"]
    ] as const
    for (const [amount, text] of rows) assert.strictEqual(Quantity.ofMilli(amount), text)
  })
})
