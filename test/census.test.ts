/** The definitions of `npm run census`, on small repositories in a temporary folder. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

interface Found {
  readonly file: string
  readonly line: number
  readonly what: string
}

interface Census {
  readonly shortFiles: ReadonlyArray<string>
  readonly circles: ReadonlyArray<ReadonlyArray<string>>
  readonly lookAlikes: Record<"src" | "test", Record<"exact" | "renamed", ReadonlyArray<unknown>>>
  readonly dataPath: { readonly files: ReadonlyArray<string>; readonly faults: ReadonlyArray<string> }
  readonly throwsInApiServer: number
  readonly bannedWords: ReadonlyArray<Found>
  readonly lostCitations: ReadonlyArray<Found>
  readonly testFiles: ReadonlyArray<{ readonly file: string; readonly cases: number; readonly assertions: number }>
}

/** What the script prints with an option about a repository with these files. */
const outputOf = (option: string, files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "census-"))
  try {
    spawnSync("git", ["init", "--quiet", folder])
    for (const [name, text] of Object.entries({ "src/a.ts": "", "test/a.ts": "", ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const script = new URL("../scripts/census.mjs", import.meta.url).pathname
    return spawnSync(process.execPath, [script, folder, option], { encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const censusOf = (files: Readonly<Record<string, string>>): Census => {
  const { stderr, stdout } = outputOf("--json", files)
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

/** A block long enough to be compared, with names that start with `prefix`. */
const block = (prefix: string) =>
  Array.from({ length: 9 }, (_, at) => `export const ${prefix}${at} = (x: number) => x * ${at} + ${at}\n`).join("")

const census = censusOf({
  "src/kube/a.ts": `import type { B } from "./b.ts"\nexport type A = B\n`,
  "src/kube/b.ts": `export type B = import("./c.ts").C | string\n`,
  "src/kube/c.ts": `export * from "./a.ts"\nexport type C = number\n`,
  "src/kube/d.ts": `import "./a.ts"\n${"//\n".repeat(39)}`,
  "src/apiserver/a.ts": `// throw nothing\nconst f = () => { throw new Error("throw") }\nf()\n`,
  "src/manager/a.ts": `throw new Error("elsewhere")\n`,
  "src/streams/a.ts": block("a"),
  "src/streams/b.ts": block("a"),
  "src/streams/c.ts": block("c"),
  "test/cases.test.ts": [
    `describe("told by nobody", () => {`,
    `  for (const n of [1, 2]) it.effect(\`told \${n}\`, () => assert.isTrue(true))`,
    `  it.skipIf(true)("one", () => expect(1).toBe(1))`,
    `  it.each([1])("two", () => assert(true))`,
    `  checkProperty("hears", () => true)`,
    `  const nobody = /x/.test("nobody")`,
    `})`,
    ``
  ].join("\n"),
  "docs/page.md": "See `kube/a.ts`, kube/e.ts and https://example.org/f.ts.\n",
  "src/kube/f.ts": `// Source: spec G.7, framework.md 2.1; pkg/controller/job.md. "spec G.7"\nexport const f = "framework.md"\n`,
  "docs/design/pipeline.md":
    "`src/kube/f.ts`\n<!-- data path -->\n1. `src/kube/a.ts`\n2. `src/kube/b.ts`\n3. `src/kube/f.ts`\n4. `src/kube/g.ts`\n<!-- end of data path -->\n"
})

describe("census", () => {
  it("import circles include imports of types, import types and re-exports", () => {
    assert.deepStrictEqual(census.circles, [["src/kube/a.ts", "src/kube/b.ts", "src/kube/c.ts"]])
  })

  it("a short file has fewer than 40 lines", () => {
    assert.include(census.shortFiles, "src/kube/c.ts")
    assert.notInclude(census.shortFiles, "src/kube/d.ts")
  })

  it("throws are statements of the API server, not words", () => {
    assert.strictEqual(census.throwsInApiServer, 1)
  })

  it("look-alike blocks after renaming include the exact ones", () => {
    assert.lengthOf(census.lookAlikes.src.exact, 1)
    assert.lengthOf(census.lookAlikes.src.renamed, 2)
    assert.lengthOf(census.lookAlikes.test.exact, 0)
  })

  it("cases and assertions are calls, each counted once", () => {
    assert.deepStrictEqual(census.testFiles, [{ file: "test/cases.test.ts", cases: 3, assertions: 3 }])
  })

  it("banned words are those of comments, titles and pages", () => {
    assert.deepStrictEqual(
      census.bannedWords.map(({ line, what }) => `${line} ${what}`),
      ["1 told", "1 nobody", "2 told", "5 hears"]
    )
  })

  it("lost citations are names of files that no path ends in, and sections of documents from outside", () => {
    assert.deepStrictEqual(
      census.lostCitations.map(({ file, what }) => `${file} ${what}`),
      [
        "src/kube/f.ts spec G.7",
        "src/kube/f.ts framework.md",
        "src/kube/f.ts spec G.7",
        "docs/design/pipeline.md src/kube/g.ts",
        "docs/page.md kube/e.ts"
      ]
    )
  })

  it("--lint fails on a banned word and on a lost citation, and names file, line and word", () => {
    const { status, stderr } = outputOf("--lint", { "src/new/a.ts": "\n// somebody reads kube/gone.ts\n" })
    assert.strictEqual(status, 1)
    assert.deepStrictEqual(
      stderr.split("\n").map((line) => line.split(" is ")[0]),
      [`src/new/a.ts:2: "somebody"`, `src/new/a.ts:2: "kube/gone.ts"`, ""]
    )
    assert.strictEqual(outputOf("--lint", { "src/new/a.ts": "// reads a.ts\n" }).status, 0)
  })

  it("the data path lists files that exist and that an import connects with another", () => {
    assert.lengthOf(census.dataPath.files, 4)
    assert.deepStrictEqual(census.dataPath.faults, ["src/kube/f.ts", "src/kube/g.ts"])
  })
})
