/**
 * The server processes of a test, each in a process group of its own. A group is killed and waited for when its scope closes, and also when this process
 * dies in any other way: a small shell in the group waits for the end of a pipe that only this process holds. It then removes the temporary folder, too.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"

export interface Running {
  readonly process: ChildProcess
  /** The last kilobytes of its output. */
  log: string
}

/** How much of the output is kept, in characters. */
const longestLog = 16_384

/** The arguments are the command; the folder is a variable, so that nothing is quoted. */
const guard = [
  "exec 3<&0",
  '"$@" </dev/null 3<&- & child=$!',
  '(cat <&3 >/dev/null; kill -9 "$child"; rm -rf -- "$TEST_FOLDER") & guard=$!',
  'wait "$child"; code=$?',
  'kill -9 "$guard"; exit "$code"'
].join("\n")

/** Starts a command. `folder`: the temporary folder of the test. */
export const start = (
  command: string,
  args: ReadonlyArray<string>,
  folder: string
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      // Most of the CPU time of a start is garbage collection.
      const env = { ...process.env, GOGC: "400", TEST_FOLDER: folder }
      const stdio: ["pipe", "pipe", "pipe"] = ["pipe", "pipe", "pipe"]
      const started = spawn("/bin/sh", ["-c", guard, "guard", command, ...args], { env, detached: true, stdio })
      const running: Running = { process: started, log: "" }
      const keep = (text: Buffer) => {
        running.log = (running.log + text.toString()).slice(-longestLog)
      }
      started.stdout.on("data", keep)
      started.stderr.on("data", keep)
      started.stdin.on("error", () => {})
      started.on("error", (error) => keep(Buffer.from(String(error))))
      return running
    }),
    ({ process: one }) =>
      Effect.promise(async () => {
        if (one.pid === undefined || hasEnded(one)) return
        const exited = once(one, "exit")
        process.kill(-one.pid, "SIGKILL")
        await exited
      })
  )

export const hasEnded = (one: ChildProcess): boolean =>
  one.pid === undefined || one.exitCode !== null || one.signalCode !== null
