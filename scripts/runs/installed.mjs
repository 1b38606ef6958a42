/**
 * The runtimes that `tools/runtimes` locks: four versions of Node, Bun and Deno. npm installs them at the first use. The lock has packages for Linux; on other
 * platforms the Node that runs this is the only runtime.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { root, run } from "../run.mjs"

const tool = join(root, "tools", "runtimes")

const install = () => {
  if (process.platform !== "linux" || existsSync(join(tool, "node_modules", ".package-lock.json"))) return
  run("npm", ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: tool })
}

/** Where a package of the lock has its program, and the arguments with which that runs a module. */
const programOf = (name) => {
  if (name.startsWith("@deno/")) return { runtime: "deno", file: "deno", args: ["run", "--allow-all"] }
  if (name.startsWith("@oven/")) return { runtime: "bun", file: join("bin", "bun"), args: [] }
  return { runtime: name.slice(0, name.indexOf("-")), file: join("bin", "node"), args: [] }
}

/**
 * Each runtime with its name (`node20`, `bun`), the command that runs a module, and its version. Installs them first if that has not been done.
 */
export const runtimes = () => {
  install()
  const { optionalDependencies } = JSON.parse(readFileSync(join(tool, "package.json"), "utf8"))
  const found = Object.keys(optionalDependencies).flatMap((name) => {
    const { args, file, runtime } = programOf(name)
    const path = join(tool, "node_modules", name, file)
    if (!existsSync(path)) return []
    const [version] = /\d+\.\d+\.\d+/.exec(run(path, ["--version"]))
    return [{ name: runtime, command: [path, ...args], version }]
  })
  const own = { name: "node", command: [process.execPath], version: process.versions.node }
  const order = (one) => (one.name.startsWith("node") ? 0 : 1)
  return found.length === 0 ? [own] : found.sort((a, b) => order(a) - order(b) || (a.name < b.name ? -1 : 1))
}

/** The Node of one long-term support line; this Node where the platform has none in the lock. */
export const nodeOf = (name) => runtimes().find((one) => one.name === name)?.command[0] ?? process.execPath
