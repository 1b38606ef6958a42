/** Runs the installed kubectl, with its own home directory, against a new embedded server over HTTPS. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Api } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as HttpsServer from "../../../src/apiserver/server/HttpsServer.ts"
import * as Kubeconfig from "../../../src/apiserver/server/files/kubeconfigFile.ts"
import { serve, token } from "../server/harness.ts"

/** Why there is none. */
export const missing = spawnSync("kubectl", ["version", "--client"]).status === 0 ? undefined : "no kubectl on PATH"

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const run = (command: ReadonlyArray<string>, env: NodeJS.ProcessEnv, input: string): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn("kubectl", command, { env, stdio: ["pipe", "pipe", "pipe"] })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.once("error", reject).once("close", (code) => resolve({ code, stdout, stderr }))
    child.stdin.end(input)
  })

/** A fresh server behind HTTPS, changed as the test wants, and kubectl with a home of its own. */
export const cluster = Effect.fnUntraced(function* (change: (api: Api) => Api = (api) => api) {
  const api = Context.get(yield* Layer.build(ApiServer.layer()), ApiServer)
  const { ca, calls, port } = yield* serve(change(api).handle)
  const home = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kubectl-home-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const kubeconfig = yield* Kubeconfig.write({ server: `https://${HttpsServer.host}:${port}`, ca, token }, home)
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig }
  const kubectl = (line: string, input: object = {}) =>
    Effect.promise(() => run(line.split(" "), env, JSON.stringify(input)))
  /** The output of a run that must succeed. */
  const done = (line: string, input?: object) =>
    Effect.map(kubectl(line, input), ({ code, stderr, stdout }) => {
      assert.strictEqual(code, 0, `kubectl ${line}: ${stderr}`)
      return stdout
    })
  return { kubectl, done, calls }
})
