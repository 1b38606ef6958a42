/** Quantities: parsing, printing, and that caching parsed texts changes nothing; and amounts in thousandths, as autoscalers count them. */
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

describe("a quantity", () => {
  it("is read exactly, and written in the shortest form of its family", () => {
    const rows = ["1000m", "0.5", "1.5Gi", "1024Mi", "2e3", "1500", "1n", "-3k", "0Gi", ""].map((text) => {
      const amount = Quantity.parse(text)
      return amount === undefined ? undefined : Quantity.canonical(amount)
    })
    assert.deepStrictEqual(rows, ["1", "500m", "1536Mi", "1Gi", "2e3", "1500", "1n", "-3k", "0", undefined])
  })

  it("is parsed to the same value however often, and however many others are parsed in between", () => {
    const before = ["5", "x", "7Mi"].map((text) => Quantity.parse(text))
    for (let i = 0; i < 3000; i++) assert.strictEqual(Quantity.parse(`${i}m`)?.nanos, BigInt(i) * 1_000_000n)
    assert.deepStrictEqual(
      ["5", "x", "7Mi"].map((text) => Quantity.parse(text)),
      before
    )
    assert.isUndefined(Quantity.parse("1".repeat(65)))
  })

  it("is added and rounded up exactly", () => {
    const sum = (...texts: ReadonlyArray<string>) =>
      texts.reduce<Quantity.Quantity | undefined>((total, text) => {
        const amount = Quantity.parse(text)
        return amount === undefined ? total : Quantity.plus(total, amount)
      }, undefined)
    const show = (amount: Quantity.Quantity | undefined) => (amount === undefined ? "" : Quantity.canonical(amount))
    assert.deepStrictEqual(
      [show(sum("0", "1Gi", "1Gi")), show(sum("100m", "900m")), show(sum()), show(Quantity.whole(3))],
      ["2Gi", "1", "", "3"]
    )
    const up = (text: string) => show(Quantity.roundUp(sum(text) ?? Quantity.whole(0)))
    assert.deepStrictEqual(["1500m", "2", "-1500m", "1n"].map(up), ["2", "2", "-1", "1"])
  })
})
