/** What a user reads where there is no API server, and that no process and no folder stays behind when a test process dies. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as ControlPlane from "../../../src/testing/envtest/ControlPlane.ts"
import * as Processes from "../../../src/testing/envtest/processes.ts"
import * as Bundle from "../../support/bundle.ts"
import * as Process from "../../support/process.ts"

const withAssets = <A, E, R>(folder: string | undefined, use: Effect.Effect<A, E, R>) => {
  const set = (value: string | undefined) =>
    Effect.sync(() => {
      const before = process.env["KUBEBUILDER_ASSETS"]
      if (value === undefined) delete process.env["KUBEBUILDER_ASSETS"]
      else process.env["KUBEBUILDER_ASSETS"] = value
      return before
    })
  return Effect.acquireUseRelease(set(folder), () => use, set)
}

const failure = Effect.map(Effect.flip(Effect.scoped(ControlPlane.start())), ({ message }) => message)

/** A folder with both programs as shell scripts. */
const assets = (etcd: string, apiserver: string) =>
  Effect.gen(function* () {
    const folder = yield* Process.folder
    for (const [name, script] of [
      ["etcd", etcd],
      ["kube-apiserver", apiserver]
    ] as const) {
      yield* Effect.promise(() => writeFile(join(folder, name), `#!/bin/sh\n${script}\n`))
      yield* Effect.promise(() => chmod(join(folder, name), 0o755))
    }
    return folder
  })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("a control plane", () => {
  it.live("without KUBEBUILDER_ASSETS fails and names the variable", () =>
    withAssets(
      undefined,
      Effect.map(failure, (message) =>
        assert.strictEqual(message, "KUBEBUILDER_ASSETS is not set: it names a folder with etcd and kube-apiserver")
      )
    )
  )

  it.live("in a folder without the programs fails and names both, and the folder", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      yield* Effect.promise(() => writeFile(join(folder, "etcd"), ""))
      const message = yield* withAssets(folder, failure)
      assert.strictEqual(
        message,
        `KUBEBUILDER_ASSETS=${folder} has no etcd and no kube-apiserver that this user can execute`
      )
    }).pipe(Effect.scoped)
  )

  it.live("whose API server ends fails at once with the end of its log", () =>
    Effect.gen(function* () {
      const folder = yield* assets("exec sleep 600", "echo a flag is wrong >&2; exit 1")
      const message = yield* withAssets(folder, failure)
      assert.match(message, /^kube-apiserver ended before the API server was ready\n/)
      assert.include(message, "a flag is wrong")
    }).pipe(Effect.scoped)
  )

  it.live("whose etcd ends fails at once", () =>
    Effect.gen(function* () {
      const folder = yield* assets("echo no space left >&2; exit 3", "exec sleep 600")
      assert.match(yield* withAssets(folder, failure), /^etcd ended before the API server was ready\n[^]*no space left/)
    }).pipe(Effect.scoped)
  )

  it.live("is killed, and its folder removed, when the process that started it is killed", () =>
    Effect.gen(function* () {
      const folder = join(yield* Process.folder, "data")
      yield* Effect.promise(() => mkdir(folder))
      const program = yield* Bundle.make("test/testing/envtest/program.ts")
      const running = yield* Process.start([folder], {}, { program })
      const [, pid] = yield* Effect.map(running.says(/^(\d+)$/m), (found) => found.map(Number))
      yield* running.kill("SIGKILL")
      yield* running.exit
      if (pid === undefined) assert.fail("the child has no pid")
      assert.isAbove(pid, 1)
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => !isAlive(pid) && !existsSync(folder) })
    }).pipe(Effect.scoped)
  )

  it.live("is killed with its children when its scope closes", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      const pid = yield* Effect.gen(function* () {
        const running = yield* Processes.start("/bin/sh", ["-c", "echo $$; exec sleep 600"], folder)
        const [text] = (yield* Effect.promise(() => once(running.process.stdout ?? assert.fail(), "data"))) as [Buffer]
        return Number(text.toString())
      }).pipe(Effect.scoped)
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => !isAlive(pid) })
      assert.isTrue(existsSync(folder))
    }).pipe(Effect.scoped)
  )
})
