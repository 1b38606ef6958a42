/** The real API server of `src/testing/envtest` for the tests of this repository: a server that does not start is a defect. */
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import * as ControlPlane from "../../src/testing/envtest/ControlPlane.ts"

/** The reason why there is no real API server on this machine; undefined where there is one. */
export const missing = ControlPlane.missing()

/** Whether a suite has to be skipped because there is no real API server, which is then reported. */
export const isMissing = (suite: string): boolean => {
  if (missing !== undefined) process.stderr.write(`${suite} skipped: ${missing}\n`)
  return missing !== undefined
}

/**
 * Whether there is no server, or one that crashes on custom objects and on patches of webhooks: Kubernetes before 1.24 that was built by Go 1.18 or newer.
 * See docs/embedded-cluster.md.
 */
export const lacksCustomObjects = ((): boolean => {
  if (missing !== undefined) return true
  const { stdout } = spawnSync(join(process.env["KUBEBUILDER_ASSETS"] ?? "", "kube-apiserver"), ["--version"], {
    encoding: "utf8"
  })
  return Number(/ v1\.(\d+)/.exec(stdout)?.[1] ?? 0) < 24
})()

export type RealServer = Effect.Success<ReturnType<typeof start>>

/** Starts both, the API server with `more` flags. */
export const start = Effect.fnUntraced(function* (
  more: ReadonlyArray<string> = [],
  users: ControlPlane.Options["users"] = []
) {
  const server = yield* Effect.orDie(ControlPlane.start({ flags: more, users }))
  return {
    ...server,
    compact: Effect.orDie(server.compact),
    stored: (prefix: string) => Effect.orDie(server.stored(prefix)),
    restart: Effect.orDie(server.restart)
  }
})
