/** Functions of the scripts that check the package: child processes with a time limit, and new folders that are removed at the end. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))

/** npm as a script for Node, inside of an npm script: on Windows `npm` is a batch file, which needs a shell. */
const npm = process.env.npm_execpath

/** Runs a command to its end and returns its standard output; a failure has the output in its error. */
export const run = (command, args, options = {}) => {
  const isNpm = command === "npm" && npm !== undefined
  const [program, all] = isNpm ? [process.execPath, [npm, ...args]] : [command, args]
  const { error, signal, status, stderr, stdout } = spawnSync(program, all, {
    cwd: root,
    encoding: "utf8",
    timeout: 600_000,
    maxBuffer: 64 * 1024 * 1024,
    ...options
  })
  if (error !== undefined || status !== 0) {
    const end = error?.message ?? (status === null ? `ended by ${signal}` : `exit code ${status}`)
    throw new Error(`${command} ${args.join(" ")}: ${end}\n${stdout ?? ""}${stderr ?? ""}`)
  }
  return stdout
}

const folders = []
process.on("exit", () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

/** A new folder, removed when the process ends. */
export const folder = (name) => {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  folders.push(path)
  return path
}

/** Prints in one sentence what failed, and ends with exit code 1. */
export const main = async (work) => {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`failed: ${error.message}\n`)
    process.exitCode = 1
  }
}
