import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Result from "effect/Result"
import * as Time from "../../src/kube/time.ts"

/** Seconds from 1970 to the end of the year 9999. */
const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799 }))

describe("time", () => {
  it.prop("parse reads what format writes, to the second", { seconds: Seconds }, ({ seconds }) => {
    assert.strictEqual(Time.parse(Time.format(seconds * 1000)), seconds * 1000)
    assert.strictEqual(Time.format(seconds * 1000 + 999), Time.format(seconds * 1000))
  })

  it("format writes RFC 3339 in UTC", () => {
    assert.strictEqual(Time.format(0), "1970-01-01T00:00:00Z")
    assert.strictEqual(Time.format(1_700_000_000_123), "2023-11-14T22:13:20Z")
  })

  it("parse reads fractions and offsets", () => {
    assert.strictEqual(Time.parse("1970-01-01T00:00:01.5Z"), 1500)
    assert.strictEqual(Time.parse("1970-01-01T02:00:00+02:00"), 0)
  })

  it("parse refuses any other text", () => {
    for (const text of [undefined, "", "soon", "1970", "1970-01-01", "2023-13-01T00:00:00Z", "1970-01-01 00:00:00Z"])
      assert.isUndefined(Time.parse(text), String(text))
  })

  it("parseGoDuration reads durations in Go's form", () => {
    const rows = [
      ["0", 0],
      ["15.5s", 15_500],
      ["1m30s", 90_000],
      ["1.5h", 5_400_000],
      ["250ms", 250],
      [".5s", 500]
    ] as const
    for (const [text, millis] of rows) assert.strictEqual(Time.parseGoDuration(text), millis, text)
    for (const text of [undefined, "", "1", "-1s", "soon", "1 s"])
      assert.isUndefined(Time.parseGoDuration(text), String(text))
  })

  it("readGoDuration reads signed durations too, and fails with Go's message", () => {
    assert.deepStrictEqual(Time.readGoDuration("-1m30s"), Result.succeed(-90_000))
    assert.deepStrictEqual(Time.readGoDuration("+2us"), Result.succeed(0.002))
    assert.deepStrictEqual(Time.readGoDuration("5"), Result.fail('time: missing unit in duration "5"'))
  })
})
