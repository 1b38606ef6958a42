import { assert, describe, it } from "@effect/vitest"
import { type Finding, render, verdict } from "../../../../src/layers/manager/check/table.ts"

const finding = (check: Finding["check"], isOk: boolean, subject: string, detail = ""): Finding => ({
  check,
  isOk,
  subject,
  detail
})

describe("the table of check", () => {
  it("has columns as wide as what is in them, and nothing at the ends of lines", () =>
    assert.strictEqual(
      render([finding("reachability", true, "https://api:6443", "v1.35"), finding("discovery", false, "pods")]),
      [
        "CHECK          RESULT   SUBJECT            DETAIL",
        "reachability   ok       https://api:6443   v1.35",
        "discovery      FAILED   pods"
      ].join("\n")
    ))

  it("is summed up when something is not well", () => {
    assert.isUndefined(verdict([]))
    assert.isUndefined(verdict([finding("discovery", true, "a")]))
    assert.strictEqual(
      verdict([finding("discovery", true, "a"), finding("discovery", false, "b")]),
      "1 of 2 checks failed"
    )
  })
})
