/**
 * Row by row, what the reference does and which tests show it: this test fails when one of these tests is removed, renamed or skipped. At least one
 * test of a row has to run everywhere; others may be skipped where some tool is missing.
 * Source: the behaviour of controller-runtime and of kube-controller-manager's loops.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { controllerRuntime } from "./parity/controllerRuntime.ts"
import { controllers } from "./parity/controllers.ts"
import { kubeControllerManager } from "./parity/kubeControllerManager.ts"
import { operations } from "./parity/operations.ts"
import { operator } from "./parity/operator.ts"
import type { Row } from "./parity/row.ts"
import { exportsOf, type Title, titlesIn } from "./support/titles.ts"

const tables = [kubeControllerManager, operator, controllers, controllerRuntime, operations]
const rows = new Map(tables.flatMap((table) => Object.entries(table)))

const read = new Map<string, ReadonlyArray<Title>>()

/** The titles of a file below `test`. */
const titlesOf = (file: string): ReadonlyArray<Title> => {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const known = read.get(file)
  if (known !== undefined) return known
  const source = existsSync(path) ? readFileSync(path, "utf8") : ""
  const found = file.endsWith(".types.ts") ? exportsOf(source) : titlesIn(source)
  read.set(file, found)
  return found
}

/** The problems of a row. */
const complaints = ({ by, not }: Row, titles: (file: string) => ReadonlyArray<Title>): ReadonlyArray<string> => {
  const named = Object.entries(by).flatMap(([file, texts]) => texts.map((text) => [file, text] as const))
  if (named.length === 0) return not === undefined ? ["nothing shows it, and nobody says why"] : []
  const found = named.map(([file, text]) => ({ file, text, as: titles(file).filter((title) => title.text === text) }))
  const missing = found.filter(({ as }) => as.length === 0).map(({ file, text }) => `there is no "${text}" in ${file}`)
  const always = found.some(({ as }) => as.some((title) => title.always))
  return always || missing.length > 0 ? missing : ["whether it is shown depends on what is installed"]
}

const numbered = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)

describe("every row is shown by tests", () => {
  for (const [id, row] of rows) {
    it(`${id}: ${row.is}`, () => assert.deepStrictEqual([...complaints(row, titlesOf)], []))
  }

  it("no row is missing, or there twice", () => {
    const ids = tables.flatMap((table) => Object.keys(table))
    assert.strictEqual(new Set(ids).size, ids.length)
    const expected = [...numbered("K", 21), ...numbered("M", 33), ...numbered("D", 13), ...numbered("H", 14)]
    assert.includeMembers(ids, expected)
    const sections = new Set(ids.flatMap((id) => /^2\.\d+/.exec(id)?.[0] ?? []))
    assert.sameMembers(
      [...sections],
      ["2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.10", "2.11", "2.12", "2.13", "2.14", "2.16"]
    )
  })
})

describe("a row is reported", () => {
  const source = `
    describe("a suite", () => {
      it.effect("runs", () => done)
      it.live.skipIf(missing)("runs sometimes", () => done)
      it.skip("never runs", () => done)
      for (const what of all) checkProperty(\`takes \${what}\`, values, holds)
    })
    describe.skipIf(missing).concurrent("skipped whole", () => { it("inside", () => done) })
    say("is no test")
  `
  const by = (...texts: ReadonlyArray<string>) =>
    complaints({ is: "", by: { file: texts }, not: undefined }, () => titlesIn(source))

  it("when no test and no reason is given", () => {
    assert.lengthOf(by(), 1)
    assert.deepStrictEqual([...complaints({ is: "", by: {}, not: "It is not built." }, () => [])], [])
  })

  it("when a test of that name does not exist", () => {
    assert.deepStrictEqual([...by("runs")], [])
    assert.deepStrictEqual([...by("takes ${what}")], [])
    assert.lengthOf(by("runs", "ran"), 1)
    assert.lengthOf(by("is no test"), 1)
  })

  it("when no test of it runs everywhere", () => {
    for (const text of ["runs sometimes", "never runs", "skipped whole", "inside"]) {
      assert.lengthOf(by(text), 1, text)
      assert.deepStrictEqual([...by("runs", text)], [], text)
    }
  })
})
