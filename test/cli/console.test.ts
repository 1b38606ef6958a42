/** Where the timeline is recorded: with the console, or where its setting is given. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Console from "../../src/cli/console.ts"
import { product } from "../../src/cli/product.ts"
import * as Sources from "../../src/manager/setting/sources.ts"

const program = Result.getOrThrow(product)

const cases: ReadonlyArray<readonly [flags: Readonly<Record<string, string>>, embedded: boolean, isRecorded: boolean]> =
  [
    [{}, true, true],
    [{}, false, false],
    [{ "console-bind-address": "127.0.0.1:8082" }, false, true],
    [{ "console-bind-address": "0" }, true, false],
    [{ "console-bind-address": "0", "timeline-limit": "1Mi" }, true, true],
    [{ "timeline-limit": "1Mi" }, false, true],
    [{ "timeline-limit": "0" }, true, false]
  ]

describe("the timeline", () => {
  for (const [flags, embedded, isRecorded] of cases) {
    const given = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
    const where = embedded ? "the embedded cluster" : "another cluster"
    it.effect(`is ${isRecorded ? "" : "not "}recorded on ${where} with ${given.join(" ") || "no flags"}`, () =>
      Effect.gen(function* () {
        const sources = { flags: new Map(Object.entries(flags)), env: {} }
        const resolved = Result.getOrThrow(Sources.resolve(program.settings, sources))
        assert.strictEqual((yield* Console.timeline(resolved, { embedded })) !== undefined, isRecorded)
      })
    )
  }

  it("has a limit that is an amount of memory", () => {
    for (const text of ["16Mi", "0", "1Gi", "500k"]) {
      const sources = { flags: new Map([["timeline-limit", text]]), env: {} }
      assert.isTrue(Result.isSuccess(Sources.resolve(program.settings, sources)), text)
    }
    for (const text of ["2Gi", "-1", "much", ""]) {
      const sources = { flags: new Map([["timeline-limit", text]]), env: {} }
      assert.isTrue(Result.isFailure(Sources.resolve(program.settings, sources)), text)
    }
  })
})
