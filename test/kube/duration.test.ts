import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { parseDuration } from "../../src/kube/time.ts"

const millis = (text: string) => Option.getOrUndefined(Option.map(parseDuration(text), Duration.toMillis))

describe("parseDuration", () => {
  for (const [text, expected] of [
    ["10s", 10_000],
    ["1m30s", 90_000],
    ["250ms", 250],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["100us", 0.1],
    ["0", 0],
    ["90 seconds", 90_000],
    ["2 hours", 7_200_000],
    [" 10s ", 10_000]
  ] as const) {
    it(`reads ${text}`, () => assert.strictEqual(millis(text), expected))
  }

  for (const text of [
    "",
    "10",
    "s",
    "10x",
    "-5s",
    "-5 seconds",
    "1m30",
    "1 fortnight",
    "ten seconds",
    "NaN",
    "Infinity"
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.isUndefined(millis(text)))
  }
})
