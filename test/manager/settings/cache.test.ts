/** The options that follow from the settings of the cache. Source: controller-runtime: cache.Options.SyncPeriod. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { resolve } from "../../../src/manager/setting/sources.ts"
import { settings } from "../../support/controllers.ts"
import { options } from "../../../src/manager/settings/cache.ts"

const resync = (flags: Record<string, string>) => {
  const { values } = Result.getOrThrow(resolve(settings, { flags: new Map(Object.entries(flags)), env: {} }))
  const found = options(values).resync
  return found === undefined || found === "never"
    ? "never"
    : `${Duration.toMillis(found.period) / 3_600_000}h ${found.spread}`
}

describe("the time between two resyncs", () => {
  it("is about ten hours by default", () => assert.strictEqual(resync({}), "10h around"))

  it("is infinite with zero, under both names", () => {
    assert.strictEqual(resync({ "sync-period": "0" }), "never")
    assert.strictEqual(resync({ "sync-period": "0s" }), "never")
    assert.strictEqual(resync({ "min-resync-period": "0s" }), "never")
  })

  it("has the jitter of the setting that was used", () => {
    assert.strictEqual(resync({ "sync-period": "1h" }), "1h around")
    assert.strictEqual(resync({ "min-resync-period": "12h" }), "12h atLeast")
  })
})
