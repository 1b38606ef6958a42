/** Functions of the scripts that check the package: child processes with a time limit, and new folders that are removed at the end. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))

/** Runs a command to its end and returns its standard output; a failure has the output in its error. */
export const run = (command, args, options = {}) => {
  const { error, signal, status, stderr, stdout } = spawnSync(command, args, {
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

/** A new folder, removed when the process ends. */
export const folder = (name) => {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  process.on("exit", () => rmSync(path, { recursive: true, force: true }))
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
