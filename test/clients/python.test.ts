/**
 * A third-party client in another language: Debian's python3-kubernetes with the embedded server, over HTTPS.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Fixture } from "./fixture.ts"

/** Debian's own interpreter, not one of a version manager: the package is installed for it. */
const python = "/usr/bin/python3"
const isInstalled = spawnSync(python, ["-c", "import kubernetes.leaderelection"]).status === 0

if (!isInstalled)
  console.log(`skipped: ${python} has no module kubernetes (Debian: apt-get install python3-kubernetes)`)

const script = fileURLToPath(new URL("client.py", import.meta.url))

const start = (command: string, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(Fixture, (fixture) => fixture.start(python, [script, command, ...args]))

/** The output of a command of the script in a namespace of its own, by its first words. */
const said = Effect.fnUntraced(function* (command: string) {
  const { namespace } = yield* Fixture
  const { code, stderr, stdout } = yield* (yield* start(command, yield* namespace(command))).exit
  assert.strictEqual(code, 0, stderr)
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as [string, ...ReadonlyArray<unknown>])
  return Object.fromEntries(lines.map(([what, ...rest]) => [what, rest]))
})

describe.skipIf(!isInstalled)("python3-kubernetes", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("creates, patches, replaces and deletes, and reads refusals", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* said("write"), {
          created: [{ x: "1" }, true],
          again: [[409, "Status", "AlreadyExists"]],
          merged: [{ x: "1", y: "2" }],
          patched: [{ y: "2" }],
          stale: [[409, "Status", "Conflict"]],
          replaced: [{ z: "3" }],
          deleted: ["Success"],
          gone: [[404, "Status", "NotFound"]]
        })
      })
    )

    it.effect("changes workloads by strategic merge and by scale", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* said("workload"), {
          made: ["RollingUpdate", 1],
          changed: [["side", "web"], 2],
          scaled: [3],
          bad: [[422, "Status", "Invalid"]]
        })
      })
    )

    it.effect("lists in pages", () =>
      Effect.gen(function* () {
        const pages = [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6"]]
        assert.deepStrictEqual(yield* said("pages"), { pages: [pages] })
      })
    )

    it.effect("watches until the timeout and resumes without loss", () =>
      Effect.gen(function* () {
        const { first, resumed } = yield* said("follow")
        assert.deepStrictEqual(first, [
          [
            ["ADDED", "a"],
            ["MODIFIED", "a"]
          ]
        ])
        assert.deepStrictEqual(resumed, [
          [
            ["DELETED", "a"],
            ["ADDED", "b"]
          ]
        ])
      })
    )

    it.effect("gives a Lease to one of several candidates that try at once", () =>
      Effect.gen(function* () {
        const { leases } = yield* said("leases")
        assert.deepStrictEqual(leases, [1, true])
      })
    )

    it.effect("elects a leader, and another one when that is killed", () =>
      Effect.gen(function* () {
        const namespace = yield* (yield* Fixture).namespace("election")
        const first = yield* start("elect", namespace, "first")
        yield* first.prints(/\["leading", "first"\]/)
        const second = yield* start("elect", namespace, "second")
        yield* second.prints(/\["candidate", "second"\]/)
        const { stdout } = yield* first.stop
        assert.notInclude(stdout, "stopped")
        yield* second.prints(/\["leading", "second"\]/)
      })
    )
  })
})
