import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"
import { renewed, tables } from "../../../src/manager/setting/document.ts"
import { settings } from "../../support/controllers.ts"

const two = {
  mode: Setting.make(Codecs.choice(["a", "b"]), {
    name: "mode",
    aliases: ["way"],
    group: "process",
    description: "This | that",
    default: "a"
  }),
  path: Setting.optional(Codecs.text("path"), { name: "path", env: false, group: "cluster", description: "A path" })
}

describe("the settings in a document", () => {
  it("are a table for each group that has any", () =>
    assert.strictEqual(
      tables(two),
      [
        "### Cluster",
        "",
        "| Flag, key | Variable | Default | Meaning |",
        "|---|---|---|---|",
        "| `--path` |  |  | A path |",
        "",
        "### Process",
        "",
        "| Flag, key | Variable | Default | Meaning |",
        "|---|---|---|---|",
        "| `--mode`, `--way` | `CM_MODE` | `a` | This \\| that (a, b) |"
      ].join("\n")
    ))

  it("replace the text between the marks; without marks the document is not changed", () => {
    const document = "a\n<!-- settings: begin -->\nold\n<!-- settings: end -->\nb\n"
    const once = renewed(document, two)
    assert.match(once ?? "", /^a\n<!-- settings: begin -->\n\n### Cluster\n[^]*\n\n<!-- settings: end -->\nb\n$/)
    assert.notInclude(once ?? "", "old")
    assert.strictEqual(renewed(once ?? "", two), once)
    assert.isUndefined(renewed("a", two))
  })

  it("of docs/operations.md are those of the program: renew them with npm run operations", () => {
    const document = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8")
    assert.strictEqual(document, renewed(document, settings))
  })
})
