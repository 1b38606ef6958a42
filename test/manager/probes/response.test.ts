import { assert, describe, it } from "@effect/vitest"
import { overall, single } from "../../../src/manager/probes/response.ts"

const options = { probe: "readyz", verbose: false, exclude: [] }
const good = { name: "a", failure: undefined }
const bad = { name: "b", failure: "pods: list pods:\n forbidden" }

describe("a probe's answer", () => {
  it('is "ok" alone if all checks pass', () => {
    assert.deepStrictEqual(overall([good], options), { healthy: true, text: "ok" })
    assert.deepStrictEqual(overall([], options), { healthy: true, text: "ok" })
  })

  it("lists each check with verbose", () => {
    assert.strictEqual(overall([good], { ...options, verbose: true }).text, "[+]a ok\nreadyz check passed\n")
    assert.strictEqual(overall([], { ...options, verbose: true }).text, "[+]ping ok\nreadyz check passed\n")
  })

  it("withholds the reason of a failure, and shows it on one line with verbose", () => {
    assert.deepStrictEqual(overall([good, bad], options), {
      healthy: false,
      text: "[+]a ok\n[-]b failed: reason withheld\nreadyz check failed\n"
    })
    assert.strictEqual(
      overall([good, bad], { ...options, verbose: true }).text,
      "[+]a ok\n[-]b failed: pods: list pods: forbidden\nreadyz check failed\n"
    )
  })

  it("shows the remark of a check that passes, with verbose", () => {
    const remarked = { ...good, remark: "pods\n not synced" }
    assert.deepStrictEqual(overall([remarked], options), { healthy: true, text: "ok" })
    assert.deepStrictEqual(overall([remarked], { ...options, verbose: true }), {
      healthy: true,
      text: "[+]a ok, but pods not synced\nreadyz check passed\n"
    })
  })

  it("leaves excluded checks out, and warns of unknown ones", () => {
    assert.deepStrictEqual(overall([good, bad], { ...options, exclude: ["b"] }), { healthy: true, text: "ok" })
    assert.strictEqual(
      overall([good, bad], { ...options, verbose: true, exclude: ["b", "c"] }).text,
      '[+]a ok\n[+]b excluded: ok\nwarn: some health checks cannot be excluded: no matches for "c"\nreadyz check passed\n'
    )
    assert.isFalse(overall([good, bad], { ...options, exclude: ["a"] }).healthy)
  })

  it("of a single check shows the reason", () => {
    assert.deepStrictEqual(single(good), { healthy: true, text: "ok" })
    assert.deepStrictEqual(single(bad), {
      healthy: false,
      text: "internal server error: pods: list pods: forbidden\n"
    })
  })
})
