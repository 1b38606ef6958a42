/**
 * Everything public says what it is: a symbol, and a field that users read or write, has a doc comment, and docs/api shows them all. The
 * script that reads them is tried on a package of three lines first, because a check that finds nothing proves nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** How the script ended and what was said; the compiler that it closes may say a word of its own. */
const script = (...args: ReadonlyArray<string>): { readonly code: number | null; readonly said: string } => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/api.mjs", ...args], {
    cwd: root,
    encoding: "utf8"
  })
  return { code: status, said: `${stdout}${stderr}` }
}

/** What the script names in a package with this module; undefined when it is content. */
const missingIn = (module: string): ReadonlyArray<string> | undefined => {
  const folder = mkdtempSync(join(tmpdir(), "package-"))
  try {
    const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    write("package.json", { name: "it", type: "module", exports: { ".": { types: "./dist/index.d.ts" } } })
    const compilerOptions = { target: "es2023", module: "nodenext", strict: true, declaration: true, types: [] }
    write("tsconfig.json", { compilerOptions })
    write("tsconfig.build.json", { compilerOptions: { ...compilerOptions, rootDir: "src" }, include: ["src"] })
    mkdirSync(join(folder, "src"))
    writeFileSync(join(folder, "src/index.ts"), 'export * as Part from "./part.js"\n')
    writeFileSync(join(folder, "src/part.ts"), module)
    const { code, said } = script(folder)
    return code === 0 ? undefined : said.split("\n").filter((line) => line.startsWith("src/"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("what is public", () => {
  it("names symbols, fields and the shapes that they name, where they say nothing", () => {
    const missing = missingIn(`
/** It. */
export interface Options {
  /** Said. */
  readonly said: string
  readonly unsaid: string
  readonly absent?: undefined
}
export const made = (options: Options): Shape => ({ size: options.said.length })
interface Shape {
  readonly size: number
}
/** Them. */
export class Things {
  readonly count = 1
  private readonly own = 2
  /** Both. */
  all = () => this.count + this.own
}
`)
    assert.deepStrictEqual(missing, ["src/part.ts: Options.unsaid", "src/part.ts: made", "src/part.ts: Things.count"])
  })

  it("says nothing of a package in which all is said", () => {
    assert.isUndefined(missingIn("/** One. */\nexport const one = 1\n"))
  })

  it("is documented here to the last field, and docs/api shows it as it is", () => {
    const { code, said } = script("--check")
    assert.strictEqual(code, 0, said)
  })
})
