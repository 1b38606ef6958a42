/**
 * Validation errors: each case has exactly the response of kube-apiserver 1.20, unless it states why the embedded server differs. With
 * `KUBEBUILDER_ASSETS` the real server is compared with its recorded responses; `VALIDATION_RECORD` records both responses.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import * as envtest from "../support/envtest.ts"
import { cases } from "./validationCases.ts"
import * as servers from "./validationServers.ts"

interface Recorded {
  readonly real: servers.Answer
  /** The response of the embedded server, if it differs. */
  readonly embedded?: servers.Answer
}

const file = new URL("validationAnswers.json", import.meta.url)
const recorded = JSON.parse(readFileSync(file, "utf8")) as Record<string, Recorded>
const minutes = 2 * 60_000

describe("validation", () => {
  it.effect("returns the responses recorded from kube-apiserver", () =>
    Effect.gen(function* () {
      const answers = yield* servers.embedded(cases)
      for (const { name } of cases) {
        assert.deepStrictEqual(answers.get(name), recorded[name]?.embedded ?? recorded[name]?.real, name)
      }
    })
  )

  it("differs only where a case states the reason", () => {
    assert.strictEqual(new Set(cases.map((one) => one.name)).size, cases.length)
    assert.sameMembers(
      Object.keys(recorded),
      cases.map((one) => one.name)
    )
    for (const one of cases) {
      assert.strictEqual(recorded[one.name]?.embedded !== undefined, one.differs !== undefined, one.name)
    }
  })

  it.live.skipIf(envtest.missing !== undefined)(
    "the installed kube-apiserver returns the recorded responses",
    () =>
      Effect.gen(function* () {
        const answers = yield* servers.real(cases)
        if (process.env["VALIDATION_RECORD"] !== undefined) yield* record(answers)
        for (const { name } of cases) assert.deepStrictEqual(answers.get(name), recorded[name]?.real, name)
      }),
    minutes
  )
})

const record = Effect.fnUntraced(function* (real: ReadonlyMap<string, servers.Answer>) {
  const embedded = yield* servers.embedded(cases)
  const lines = cases.map(({ name }) => {
    const [theirs, ours] = [real.get(name), embedded.get(name)]
    const same = JSON.stringify(theirs) === JSON.stringify(ours)
    return [name, same ? { real: theirs } : { real: theirs, embedded: ours }]
  })
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(lines), null, 2)}\n`)
})
