/** The table of the README is that of docs/comparison.md, which has a source for each cell about another project. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The rows of the table below a heading, as cells, without the line of dashes. */
const rowsBelow = (path: string, heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, below = ""] = readFileSync(join(root, path), "utf8").split(`\n## ${heading}\n`)
  const [section = ""] = below.split("\n## ")
  const lines = section.split("\n").filter((line) => line.startsWith("|") && !line.startsWith("|---"))
  return lines.map((line) => line.split("|").map((cell) => cell.trim()))
}

/** A cell with the links of a page in docs. */
const inDocs = (cell: string): string => cell.replaceAll("](docs/", "](").replaceAll("](examples/", "](../examples/")

describe("docs/comparison.md", () => {
  const table = rowsBelow("docs/comparison.md", "What you get")
  const sources = rowsBelow("docs/comparison.md", "Sources")

  it("has the table of the README, in at most 25 rows", () => {
    const readme = rowsBelow("README.md", "What you get").map((row) => row.map(inDocs))
    assert.deepStrictEqual(readme, table)
    assert.isAbove(table.length, 20)
    assert.isAtMost(table.length - 1, 25)
  })

  it("names an address for each cell about another project", () => {
    const names = (rows: typeof table) => rows.slice(1).map(([, name]) => name)
    assert.deepStrictEqual(names(sources), names(table))
    const without = sources.slice(1).flatMap(([, name, ...cells]) =>
      cells
        .slice(0, 4)
        .filter((cell) => !/https:\/\/\S+/.test(cell))
        .map((cell) => `${name}: ${cell}`)
    )
    assert.deepStrictEqual(without, [])
  })
})
