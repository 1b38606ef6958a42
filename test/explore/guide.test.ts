/**
 * The page docs/explore.md against the package. Its blocks with a file name are a project, in which a later block replaces an earlier one with the same name:
 * before the repair, and after it. The page shows the report of the first, the second finds nothing, and `examples/backup-operator` is the second.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Exploration } from "../../src/testing/explore/explore.ts"
import { kinds, parseCase } from "../../src/testing/explore/perturbation.ts"
import { compile, executeOf } from "../support/userModules.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")
const page = read("docs/explore.md")

type Files = Readonly<Record<string, string>>

/** The files of these lines of the page, without the line that names them. */
const filesOf = (text: string): Files =>
  Object.fromEntries(
    [...text.matchAll(/^```ts\n\/\/ (\S+)\.ts\n(.*?)^```$/gms)].map(([, path = "", body = ""]) => [path, body])
  )

const [before = ""] = page.split("\n## The repair\n")
const faulty = filesOf(before)
const repaired = filesOf(page)

const explorationOf = (files: Files) =>
  Effect.promise(async () => (await executeOf<{ readonly backup: Exploration }>(files, "test/backup.explore")).backup)

/** The names of runs in a text: `crash@write#1`, `crash@write#7~2`. */
const named = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([a-z0-9-]+@\w+#\d+(?:~\d+)?)`/g)].map(([, id = ""]) => id)

describe("docs/explore.md", () => {
  it("has code that compiles, and would not if a file were wrong", () => {
    const wrong = faulty["src/BackupController"]?.replace("Access.create(Job), ", "") ?? ""
    const messages = compile({
      ...repaired,
      ...Object.fromEntries(Object.entries(faulty).map(([path, text]) => [`faulty/${path}`, text])),
      "src/wrong": wrong
    })
    const { "src/wrong": found = [], ...right } = messages
    assert.isAtLeast(Object.keys(right).length, 9)
    assert.deepStrictEqual(Object.values(right).flat(), [])
    assert.isNotEmpty(found)
  })

  it.live("shows the report of the exploration before the repair, and the names of what fails", () =>
    Effect.gen(function* () {
      const exploration = yield* explorationOf(faulty)
      const failed = yield* Effect.flip(exploration.check())
      const [, shown] = /^```text\n(.*?)\n```$/ms.exec(before) ?? []
      assert.strictEqual(failed.message, shown)
      const [failure] = failed.report.failures
      const [, other = ""] = /`also` in the report(.*?)\n\n/s.exec(before) ?? []
      assert.deepStrictEqual(named(other), failure?.also)
      for (const id of named(page)) parseCase(id)
    })
  )

  it.live("finds nothing after the repair, in as many runs as it says", () =>
    Effect.gen(function* () {
      const exploration = yield* explorationOf(repaired)
      const { failures, runs } = yield* exploration.check()
      assert.deepStrictEqual(failures, [])
      assert.include(page, `Now the test succeeds: ${runs} runs, no failure.`)
    })
  )

  it("has the files of examples/backup-operator", () => {
    const { "test/replay.test": replay, ...kept } = repaired
    assert.isDefined(replay)
    for (const [path, text] of Object.entries(kept))
      assert.strictEqual(text, read(`examples/backup-operator/${path}.ts`))
  })

  it("has a table of all kinds of perturbations, as the code describes them", () => {
    const [, section = ""] = page.split("\n## What is perturbed\n")
    const [table = ""] = section.split("\n## ")
    const rows = [...table.matchAll(/^\| `([^`]+)` \| (\w+) \| (.+) \|$/gm)].map(([, kind, at, does]) => [
      kind,
      { at, does }
    ])
    assert.deepStrictEqual(rows, Object.entries(kinds))
  })
})
