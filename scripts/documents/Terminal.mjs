/**
 * A terminal as a reader of a document has one: one shell, with its folder, its variables and its background processes. It takes commands one by one, and
 * returns what each printed until it ended. Closing it ends the processes that it has started.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"

/** A command that takes longer than this counts as hung. */
const commandTimeout = 120_000

/** The line that the shell prints after each command: no command prints this itself. */
const mark = (count) => `--end-of-command-${count}--`

export const open = (cwd, env) => {
  // A process group of its own, so that all its processes can be ended with it.
  const child = spawn("bash", ["--noprofile", "--norc"], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] })
  const ended = once(child, "exit")
  const printed = { stdout: "", stderr: "" }
  let count = 0
  let listener = () => {}
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      printed[name] += text
      listener()
    })
  }

  /** Runs one command, which may have several lines, to its end; returns what it printed on both outputs, and its exit code. */
  const run = (command) =>
    new Promise((resolve, reject) => {
      const end = mark(++count)
      const pattern = new RegExp(`${end} (\\d+)\\n`)
      for (const name of ["stdout", "stderr"]) printed[name] = ""
      const timer = setTimeout(
        () => reject(new Error(`"${command}" took too long:\n${printed.stdout}${printed.stderr}`)),
        commandTimeout
      )
      listener = () => {
        const [stdout, stderr] = [pattern.exec(printed.stdout), pattern.exec(printed.stderr)]
        if (stdout === null || stderr === null) return
        clearTimeout(timer)
        resolve({
          stdout: printed.stdout.slice(0, stdout.index),
          stderr: printed.stderr.slice(0, stderr.index),
          code: Number(stdout[1])
        })
      }
      child.stdin.write(`${command}\ncode=$?; echo ${end} $code; echo ${end} $code >&2\n`)
    })

  const close = async () => {
    try {
      process.kill(-(child.pid ?? Number.NaN), "SIGTERM")
    } catch {
      // It has ended already.
    }
    await ended
  }
  return { run, close }
}
