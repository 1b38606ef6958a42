/**
 * kubectl in one namespace: a line of arguments in, its output out. Without a kubectl on PATH the tests are skipped, and print the
 * reason.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawnSync } from "node:child_process"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Process from "../support/process.ts"
import { type Exited, type Options, Fixture, type Started } from "./fixture.ts"

export const isInstalled = Process.has("kubectl")

/** 32 of version 1.32: expectations hold from 1.20 on, unless a test names another version. */
export const minor = ((): number => {
  if (!isInstalled) return 0
  const { stdout } = spawnSync("kubectl", ["version", "--client", "-o", "json"], { encoding: "utf8" })
  return Number.parseInt(/"minor": *"(\d+)/.exec(stdout)?.[1] ?? "0", 10)
})()

export const reason = "skipped: there is no kubectl on PATH (Debian: apt-get install kubernetes-client)"

/** An object of any kind. */
export type Shown = KubeObject & Readonly<Record<string, unknown>>

export interface Kubectl {
  readonly client: Fixture["Service"]["client"]
  readonly namespace: string
  /** Takes arguments, split at blanks; an array where one contains a blank. Fails unless it exits with 0; returns its output. */
  readonly ok: (args: string | ReadonlyArray<string>, options?: Options) => Effect.Effect<string, never, Scope.Scope>
  /** The same for any exit code. */
  readonly run: (args: string | ReadonlyArray<string>, options?: Options) => Effect.Effect<Exited, never, Scope.Scope>
  readonly start: (args: string | ReadonlyArray<string>) => Effect.Effect<Started, never, Scope.Scope>
  /** The output of `get -o json` for an object. */
  readonly json: (args: string) => Effect.Effect<Shown, never, Scope.Scope>
  /** `create -f -` or `apply -f -` of an object. */
  readonly send: (line: string, ...objects: ReadonlyArray<object>) => Effect.Effect<string, never, Scope.Scope>
}

/** kubectl in a new namespace. */
export const make = Effect.fnUntraced(function* (name: string) {
  const fixture = yield* Fixture
  const namespace = yield* fixture.namespace(name)
  const start = (args: string | ReadonlyArray<string>, options?: Options) =>
    fixture.start("kubectl", ["-n", namespace, ...(typeof args === "string" ? args.split(" ") : args)], options)
  const run: Kubectl["run"] = (args, options) => Effect.flatMap(start(args, options), ({ exit }) => exit)
  const ok: Kubectl["ok"] = (args, options) =>
    Effect.map(run(args, options), ({ code, stderr, stdout }) => {
      const line = typeof args === "string" ? args : args.join(" ")
      assert.strictEqual(code, 0, `kubectl ${line}:\n${stdout}${stderr}`)
      return stdout
    })
  const kubectl: Kubectl = {
    client: fixture.client,
    namespace,
    ok,
    run,
    start,
    json: (args) => Effect.map(ok(`get ${args} -o json`), (text) => JSON.parse(text) as Shown),
    send: (line, ...objects) =>
      ok(`${line} -f -`, { input: objects.map((object) => JSON.stringify(object)).join("\n") })
  }
  return kubectl
})

/** The table as rows of cells, by the names in its header. */
export const table = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  const [head = "", ...lines] = text.trimEnd().split("\n")
  const columns = [...head.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ name: match[0], start: match.index }))
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ name, start }, index) => [name, line.slice(start, columns[index + 1]?.start).trim()])
    )
  )
}
