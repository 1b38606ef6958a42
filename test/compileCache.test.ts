import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { withCache } from "../src/compileCache.ts"

const require = createRequire(import.meta.url)

/** A program of three files, of which one is loaded late, in a folder of its own. */
const program = () => {
  const folder = mkdtempSync(join(tmpdir(), "compile-cache-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = {
    "main.cjs": `const part = require("./part.cjs"); exports.sum = (a, b) => part.add(a, b); exports.late = () => require("./late.cjs"); exports.part = part`,
    "part.cjs": `const main = require("./main.cjs"); exports.add = (a, b) => a + b; exports.main = main; exports.sep = require("node:path").sep`,
    "late.cjs": `exports.path = __filename`
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const cache = join(folder, "cache", "version")
  return { folder, cache, start: () => withCache(folder, cache, require) }
}

const use = ({ load }: ReturnType<typeof withCache>) => {
  const { late, part, sum } = load("main.cjs") as {
    sum: (a: number, b: number) => number
    late: () => { path: string }
    part: { main: unknown; sep: string }
  }
  return { sum: sum(1, 2), late: late(), part }
}

describe("compileCache", () => {
  it("runs the files once each, keeps the code of all that were loaded, and accepts it at the next start", () => {
    const { cache, folder, start } = program()
    const first = start()
    const { late, part, sum } = use(first)
    assert.strictEqual(sum, 3)
    assert.strictEqual(part.main, first.load("main.cjs"))
    assert.strictEqual(part.sep, "/")
    assert.strictEqual(late.path, join(folder, "late.cjs"))
    assert.deepStrictEqual(first.save(), ["main.cjs", "part.cjs", "late.cjs"])
    assert.sameMembers(readdirSync(cache), ["main.cjs", "part.cjs", "late.cjs"])
    const second = start()
    assert.strictEqual(use(second).sum, 3)
    assert.deepStrictEqual(second.save(), [])
  })

  it("keeps the code of a file that only a later run loads", () => {
    const { start } = program()
    const first = start()
    first.load("part.cjs")
    assert.deepStrictEqual(first.save(), ["part.cjs", "main.cjs"])
    const second = start()
    use(second)
    assert.deepStrictEqual(second.save(), ["late.cjs"])
  })

  for (const [what, change] of [
    [
      "damaged",
      (code: Buffer) => Buffer.from(code.map((byte, index) => (index === code.length >> 1 ? byte ^ 1 : byte)))
    ],
    ["cut off", (code: Buffer) => code.subarray(0, code.length >> 1)],
    ["empty", () => Buffer.alloc(0)]
  ] as const)
    it(`does not use code that is ${what}, and replaces it`, () => {
      const { cache, start } = program()
      const first = start()
      use(first)
      first.save()
      const path = join(cache, "part.cjs")
      writeFileSync(path, change(readFileSync(path)))
      const second = start()
      assert.strictEqual(use(second).sum, 3)
      assert.deepStrictEqual(second.save(), ["part.cjs"])
      const third = start()
      use(third)
      assert.deepStrictEqual(third.save(), [])
    })

  it("does not use the code of another text of the same length", () => {
    const { folder, start } = program()
    const first = start()
    use(first)
    first.save()
    const path = join(folder, "part.cjs")
    writeFileSync(path, readFileSync(path, "utf8").replace("a + b", "a * b"))
    const second = start()
    assert.strictEqual(use(second).sum, 2)
    assert.deepStrictEqual(second.save(), ["part.cjs"])
  })

  it("runs without a cache if the folder cannot be written", () => {
    const { cache, folder, start } = program()
    mkdirSync(join(folder, "cache"))
    writeFileSync(cache, "a file where the folder should be")
    const only = start()
    assert.strictEqual(use(only).sum, 3)
    assert.deepStrictEqual(only.save(), [])
    assert.isTrue(existsSync(cache))
  })
})
