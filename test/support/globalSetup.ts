/**
 * Builds the program before tests run it as a process: it builds `dist` when a source is newer, once for the whole run, and gives the tests a copy of
 * their own, so that a later build does not remove it during the run. A run of chosen files without scenarios builds nothing. A build
 * that fails is a failure of the scenarios only.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of `main.js`, or the reason why it does not exist. */
    readonly program: { readonly path: string } | { readonly missing: string }
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** When the file was written; undefined if it does not exist. */
const writtenAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs

const isStale = (): boolean => {
  const built = writtenAt(join(root, "dist/main.js"))
  if (built === undefined) return true
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).some(
    (path) => (writtenAt(join(root, "src", path)) ?? 0) > built
  )
}

/** Filters of the command line are parts of paths. */
const isNeeded = (argv: ReadonlyArray<string>): boolean => {
  const filters = argv.filter((argument) => argument.includes("test/"))
  return filters.length === 0 || filters.some((filter) => /test\/(scenario|clients)/.test(filter))
}

export default ({ provide }: TestProject): (() => void) | undefined => {
  if (!isNeeded(process.argv.slice(2))) {
    provide("program", { missing: "no scenario was chosen" })
    return undefined
  }
  if (isStale()) {
    const build = spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, encoding: "utf8" })
    if (build.status !== 0) {
      provide("program", { missing: `scripts/build.mjs failed:\n${build.stdout}${build.stderr}` })
      return undefined
    }
  }
  const folder = mkdtempSync(join(tmpdir(), "program-"))
  for (const part of ["main.js", "program", "console", "explore"]) {
    cpSync(join(root, "dist", part), join(folder, part), { recursive: true })
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n')
  provide("program", { path: join(folder, "main.js") })
  return () => rmSync(folder, { recursive: true, force: true })
}
