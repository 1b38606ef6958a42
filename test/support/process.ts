/**
 * The program as a child process: `dist/main.js` with a clean environment, and its output collected. Tests wait for a line or for the exit, never for
 * time. When the scope closes, the child is killed and waited for.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm, mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { freePorts } from "../../src/testing/envtest/ports.ts"

export interface Exited {
  /** The name of the signal that killed the process. */
  readonly code: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** How long it ran. */
  readonly millis: number
}

export interface Running {
  /** Everything on both streams until now. */
  readonly said: () => string
  /** The first match in its output, now or later; fails when it ends without one. */
  readonly says: (pattern: RegExp) => Effect.Effect<RegExpExecArray>
  readonly exit: Effect.Effect<Exited>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Closes the reading end of its output: its later writes fail. */
  readonly deafen: Effect.Effect<void>
  /** Its temporary directory. */
  readonly temporary: string
}

/** A directory that exists until the scope closes. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "scenario-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** How it is started, if not by `node dist/main.js`. */
export interface Start {
  /** Another program for Node, by its path. */
  readonly program?: string | undefined
  /** A command that starts Node in its place, with its arguments. */
  readonly through?: ReadonlyArray<string> | undefined
}

export const start = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  how: Start = {}
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.gen(function* () {
    const own = yield* folder
    const [home, temporary] = [join(own, "home"), join(own, "tmp")]
    yield* Effect.promise(() => Promise.all([mkdir(home), mkdir(temporary)]))
    // Programs of many tests run at once: tests that need probes, metrics or the console set an address.
    const silent = { CM_METRICS_BIND_ADDRESS: "0", CM_HEALTH_PROBE_BIND_ADDRESS: "0", CM_CONSOLE_BIND_ADDRESS: "0" }
    // Tests match the format for people, also where the default is JSON.
    const consoleFormat = { CM_ZAP_ENCODER: "console" }
    const base = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: temporary, ...silent, ...consoleFormat }
    return yield* Effect.acquireRelease(
      Effect.sync(() => launch(commandOf(args, how), { ...base, ...env }, temporary)),
      ({ exit, kill }) => Effect.andThen(kill("SIGKILL"), exit)
    )
  })

const commandOf = (args: ReadonlyArray<string>, { program, through = [] }: Start): ReadonlyArray<string> => {
  const built = inject("program")
  if (program === undefined && "missing" in built) throw new Error(built.missing)
  return [...through, process.execPath, program ?? ("path" in built ? built.path : ""), ...args]
}

const launch = (
  [command = "", ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  temporary: string
): Running => {
  const started = performance.now()
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  let [stdout, stderr, all] = ["", "", ""]
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const wake of waiting) wake()
  }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    all += text
    changed()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    all += text
    changed()
  })
  let over = false
  const ended = new Promise<Exited>((resolve) => {
    // Not `exit`: the last lines come after it.
    child.once("close", (code, signal) => {
      over = true
      changed()
      resolve({ code: signal ?? code, stdout, stderr, millis: performance.now() - started })
    })
  })
  return {
    temporary,
    said: () => all,
    exit: Effect.promise(() => ended),
    deafen: Effect.sync(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }),
    kill: (signal) => Effect.sync(() => void child.kill(signal)),
    says: (pattern) =>
      Effect.promise(
        () =>
          new Promise((resolve, reject) => {
            const look = () => {
              const found = pattern.exec(all)
              if (found === null && !over) return
              waiting.delete(look)
              if (found === null) reject(new Error(`it ended without saying ${pattern}:\n${all}`))
              else resolve(found)
            }
            waiting.add(look)
            look()
          })
      )
  }
}

/** Runs it until it ends. */
export const run = (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) =>
  Effect.flatMap(start(args, env), ({ exit, temporary }) => Effect.map(exit, (exited) => ({ ...exited, temporary })))

/** A port of 127.0.0.1 on which nothing listens, for a program that cannot choose one itself and say which. */
export const freePort = Effect.map(
  Effect.promise(() => freePorts(1)),
  ([port = 0]) => port
)

/** Whether a command is installed. */
export const has = (command: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((path) => existsSync(join(path, command)))
