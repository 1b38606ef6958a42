import { assert, describe, it } from "@effect/vitest"
import { printable } from "../../../src/kube/printable.ts"
import { report, verdict } from "../../../src/cli/commands/check.ts"
import { table } from "../../../src/cli/output/table.ts"
import type { Finding } from "../../../src/manager/check/Check.ts"

const finding = (check: Finding["check"], isOk: boolean, subject: string, detail = ""): Finding => ({
  check,
  isOk,
  subject,
  detail,
  neededBy: []
})

const render = (findings: ReadonlyArray<Finding>) => table(report("https://api:6443", findings).columns, findings)

describe("the table of check", () => {
  it("has columns as wide as their cells, and no trailing spaces", () =>
    assert.strictEqual(
      render([finding("reachability", true, "https://api:6443", "v1.35"), finding("discovery", false, "pods")]),
      [
        "CHECK          RESULT   SUBJECT            DETAIL",
        "reachability   ok       https://api:6443   v1.35",
        "discovery      FAILED   pods"
      ].join("\n")
    ))

  it("has one line for each finding, and escapes control characters of the server's messages", () => {
    const text = render([finding("reachability", false, "a", "\u001b[2J\u009b1A\nconfiguration   ok")])
    assert.strictEqual(text.split("\n").length, 2)
    assert.strictEqual(printable(text), text)
  })

  it("has a summary if a check has failed", () => {
    assert.isUndefined(verdict([]))
    assert.isUndefined(verdict([finding("discovery", true, "a")]))
    assert.strictEqual(
      verdict([finding("discovery", true, "a"), finding("discovery", false, "b")]),
      "1 of 2 checks failed"
    )
  })
})
