import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Change, unified } from "../../../src/cli/create/diff.ts"
import * as Process from "../../support/process.ts"
import { checkProperty } from "../../support/property.ts"

describe("a diff", () => {
  it("has the changed lines, three around them, and all lines of a new file", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n"
    assert.strictEqual(
      unified([
        { path: "src/a.ts", before, text: before.replace("5\n", "five\n") },
        { path: "b", before: undefined, text: "new\n" }
      ]),
      `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
diff --git a/b b/b
new file mode 100644
--- /dev/null
+++ b/b
@@ -0,0 +1,1 @@
+new
`
    )
  })
})

describe("unified", () => {
  const line = Schema.Literals(["a", "b", "c", "", "-", "+ a", "\\"])
  const text = Schema.Tuple([Schema.Array(line).check(Schema.isMaxLength(20)), Schema.Literals(["", "\n"])])
  const changes = Arbitrary.map(
    Arbitrary.schema(Schema.Struct({ before: Schema.UndefinedOr(text), text })),
    (one): Change => ({ path: "file", before: one.before && textOf(one.before), text: textOf(one.text) })
  )
  const textOf = ([lines, end]: readonly [ReadonlyArray<string>, string]): string => lines.join("\n") + end

  const git = (folder: string, args: ReadonlyArray<string>, input?: string) =>
    spawnSync("git", args, { cwd: folder, input, encoding: "utf8", env: { PATH: process.env["PATH"], HOME: folder } })

  checkProperty(
    "git apply makes the new text of the old one",
    // git refuses a diff without a change.
    Arbitrary.filter(changes, ({ before, text }) => (before ?? "") !== text),
    (change) =>
      Effect.gen(function* () {
        const folder = yield* Process.folder
        mkdirSync(join(folder, ".git"))
        if (change.before !== undefined) writeFileSync(join(folder, "file"), change.before)
        const { status, stderr } = git(folder, ["apply", "--unsafe-paths", "-"], unified([change]))
        assert.strictEqual(status, 0, stderr)
        return readFileSync(join(folder, "file"), "utf8") === change.text
      }).pipe(Effect.scoped),
    { runs: 60 }
  )
})
