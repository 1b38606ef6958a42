/**
 * Runs in the image while it is built, with the flags of its entry point: leaves the code that V8 has compiled in the folder `NODE_COMPILE_CACHE`. It runs the manager
 * against an API server first, because a file's code is written once and has the functions which that run needed; then a command that loads nearly
 * every other file.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout } from "node:timers/promises"

const limit = 120_000
/** In which the controllers do what they do after a start. */
const settled = 5000

const program = [...process.execArgv, "dist/main.js"]
const directory = mkdtempSync(join(tmpdir(), "compiled-"))
process.on("exit", () => rmSync(directory, { recursive: true, force: true }))

/** Starts the program, and waits for a line. Returns how to stop it. */
const start = async (args, ready) => {
  const child = spawn(process.execPath, [...program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(limit)
  })
  process.on("exit", () => child.kill("SIGKILL"))
  const ended = once(child, "exit")
  let output = ""
  await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text
        if (ready.test(output)) resolve()
      })
    ended.then(([code]) => reject(new Error(`${args.join(" ")} ended with ${code}:\n${output}`)), reject)
  })
  return async (signal) => {
    child.kill(signal)
    const [code] = await ended
    if (signal === "SIGTERM" && code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${output}`)
  }
}

const stopServer = await start(["apiserver", `--directory=${directory}`], /KUBECONFIG/)
const stopManager = await start([`--kubeconfig=${join(directory, "kubeconfig")}`], /Starting Controller/)
await setTimeout(settled)
// A server that is killed writes no code, so the manager's is kept.
await stopManager("SIGTERM")
await stopServer("SIGKILL")
const { status, stderr } = spawnSync(process.execPath, [...program, "check", "--cluster=embedded"], { timeout: limit })
if (status !== 0) throw new Error(`check ended with ${String(status)}:\n${stderr.toString()}`)
