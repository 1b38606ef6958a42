import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import * as Promtool from "../support/promtool.ts"

interface Rule {
  readonly alert: string
  readonly expr: string
}

const rules = (
  parse(readFileSync("deploy/alerts.yaml", "utf8")) as { groups: ReadonlyArray<{ rules: ReadonlyArray<Rule> }> }
).groups.flatMap((group) => group.rules)

const operations = readFileSync("docs/operations.md", "utf8")

const promtool = (...argv: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync("promtool", argv, { encoding: "utf8" })
  return { status, said: `${stdout}${stderr}` }
}

describe("alerts", () => {
  it.skipIf(Promtool.missing !== undefined)("are rules that Prometheus accepts", () => {
    const { said, status } = promtool("check", "rules", "deploy/alerts.yaml")
    assert.strictEqual(status, 0, said)
  })

  it.skipIf(Promtool.missing !== undefined)("fire for their failure and not otherwise", () => {
    const { said, status } = promtool("test", "rules", "deploy/alerts.test.yaml")
    assert.strictEqual(status, 0, said)
  })

  it("use metrics that exist", () => {
    const served = new Set(Array.from(operations.matchAll(/^\| `([a-z_]+)` \|/gm), ([, name]) => name))
    for (const { alert, expr } of rules) {
      const asked = expr.match(/\b[a-z]+(?:_[a-z0-9]+)+(?=[[{ )\n]|$)/g)
      for (const name of asked ?? []) assert.isTrue(served.has(name), `${alert} asks for ${name}`)
    }
    assert.isAbove(served.size, 30)
  })

  it("are each explained in the operators' documentation", () => {
    const explained = Array.from(operations.matchAll(/^\| `(ControllerManager[A-Za-z]+)` \|/gm), ([, name]) => name)
    assert.deepStrictEqual(
      explained,
      rules.map((rule) => rule.alert)
    )
  })
})
