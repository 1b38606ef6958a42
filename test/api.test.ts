/**
 * Every public declaration is documented: a symbol, and a field that users read or write, has a doc comment, and docs/api contains them all. The script
 * is first tested with a small package, because a check that finds nothing proves nothing. The examples in doc comments are compiled and executed.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { compile, execute } from "./support/userModules.ts"

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

/**
 * The twenty most used symbols, most used first, counted in README.md, the guides, examples/, templates/ and src/controllers, where the built-in
 * kinds do not count; and five with which a controller begins.
 */
const mostUsed = `
  ApiError Key.of Access.read ApiError.hasReason Controller.watch Reconcile.done ClusterTest Access.patch Access.update Key.make
  Access.record Access.get Reconcile.after Owner.controllerOf KubeClient Access.remove Controller.stateful Access.create
  Selector.matchesLabels Owner.reference
  Patch.merge Controller.make applier Conditions.set Resource.make`
  .trim()
  .split(/\s+/)

const pages = join(root, "docs/api")

/** The examples on a page of the reference, by symbol: `Key.of`, `applier`. */
const examplesOn = (page: string): ReadonlyArray<readonly [symbol: string, example: string]> => {
  const [opening = "", ...sections] = readFileSync(join(pages, page), "utf8").split(/^## /m)
  const [, title = ""] = /^# (\S+)/.exec(opening) ?? []
  return sections.flatMap((section) => {
    const [, name = ""] = /^(\S+)/.exec(section) ?? []
    const symbol =
      new RegExp(`^import \\{ ${title} \\}`, "m").test(opening) && name !== title ? `${title}.${name}` : name
    return [...section.matchAll(/^Example:\n```ts\n(.*?)^```$/gms)].map(
      ([, example = ""]) => [symbol, example] as const
    )
  })
}

describe("examples in doc comments", () => {
  const [, imports = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(pages, "README.md"), "utf8")) ?? []
  const examples = readdirSync(pages).flatMap(examplesOn)
  const modules = Object.fromEntries(examples.map(([symbol, example]) => [symbol, `${imports}\n${example}`]))

  it("show the most used symbols, and each asserts something", () => {
    assert.deepStrictEqual(
      mostUsed.filter((symbol) => modules[symbol] === undefined),
      []
    )
    for (const [symbol, example] of examples) {
      assert.match(example, /^assert\./m)
      assert.include(example, symbol)
    }
  })

  it("compile", () => {
    const wrong = { wrong: `${imports}\nassert.equal(Key.off, 1)` }
    const { wrong: found, ...messages } = compile({ ...modules, ...wrong })
    assert.lengthOf(found ?? [], 1)
    assert.deepStrictEqual(Object.values(messages).flat(), [])
  })

  for (const [symbol, text] of Object.entries(modules)) {
    it(`${symbol}: the example does what it asserts`, async () => assert.isDefined(await execute(text)))
  }

  it("fail when they assert what is not so", async () => {
    const failed = await execute(`${imports}\nassert.equal(Key.make("a", "b"), "b/a")`).catch(
      (error: Error) => error.name
    )
    assert.strictEqual(failed, "AssertionError")
  })
})
