/** The minimum log level: which lines pass, which texts are valid, and changes at run time. */
import { assert, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Level from "../../../src/manager/logs/level.ts"

it("admits a level and everything above it", () => {
  const level = new Level.MinimumLevel("Warn")
  assert.deepStrictEqual((["Trace", "Debug", "Info", "Warn", "Error", "Fatal"] as const).filter(level.admits), [
    "Warn",
    "Error",
    "Fatal"
  ])
  assert.isFalse(new Level.MinimumLevel("None").admits("Fatal"))
  assert.isTrue(new Level.MinimumLevel("All").admits("Trace"))
})

it("takes words in any case and verbosities as klog counts them", () => {
  for (const [text, level] of [
    ["debug", "Debug"],
    [" INFO\n", "Info"],
    ["panic", "Fatal"],
    ["0", "Info"],
    ["1", "Debug"],
    ["5", "Debug"],
    ["6", "Trace"],
    ["010", "Trace"]
  ] as const) {
    assert.deepStrictEqual(Level.parse(text), Option.some(level), text)
  }
  for (const text of ["", "verbose", "-1", "1.5", "1000", "constructor"])
    assert.isTrue(Option.isNone(Level.parse(text)))
})

it("changes while the process runs, and stays unchanged if the text is invalid", () => {
  const level = new Level.MinimumLevel("Info")
  assert.deepStrictEqual(level.set("4"), Result.succeed("Debug"))
  assert.isTrue(level.admits("Debug"))
  const refused = level.set("loud")
  assert.include(
    Result.isFailure(refused) ? refused.failure : "",
    `there is no log level "loud": it must be one of all,`
  )
  assert.strictEqual(level.current, "Debug")
})
