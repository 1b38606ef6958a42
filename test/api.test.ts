/**
 * Every public declaration is documented: a symbol, and a field that users read or write, has a doc comment, and docs/api contains them all. The script
 * is first tested with a small package, because a check that finds nothing proves nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** How the script ended and its output; the compiler that it closes may print a line of its own. */
const script = (...args: ReadonlyArray<string>): { readonly code: number | null; readonly said: string } => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/api.mjs", ...args], {
    cwd: root,
    encoding: "utf8"
  })
  return { code: status, said: `${stdout}${stderr}` }
}

/** What the script reports in a package with this module; undefined when it reports nothing. */
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

describe("public declarations", () => {
  it("are reported when symbols, fields and the types that they name have no doc comment", () => {
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

  it("are not reported in a package in which all have one", () => {
    assert.isUndefined(missingIn("/** One. */\nexport const one = 1\n"))
  })

  it("have doc comments here, and docs/api is up to date", () => {
    const { code, said } = script("--check")
    assert.strictEqual(code, 0, said)
  })
})
