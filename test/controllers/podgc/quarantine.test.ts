/** When podgc suspects that a missing node does not exist. Source: pkg/controller/podgc: discoverDeletedNodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/podgc/plan.ts"
import { runs } from "../../support/runs.ts"

const names = ["a", "b", "c"] as const

/** A run of podgc, `after` seconds after the previous one, with these nodes missing. */
const Run = Schema.Struct({
  after: Schema.Literals([0, 1, 19, 20, 21, 40, 60]),
  missing: Schema.Array(Schema.Literals(names)).check(Schema.isMaxLength(3))
})

const histories = Arbitrary.array(Arbitrary.schema(Run), { minLength: 1, maxLength: 20 })

type History = ReadonlyArray<typeof Run.Type>

/** A node is a suspect after forty seconds of absence, counted from the first run without it or from the last suspicion. */
const check = (history: History): void => {
  let quarantine = Plan.noQuarantine
  let now = 0
  const since = new Map<string, number>()
  for (const { after, missing } of history) {
    now += after * 1000
    const found = Plan.quarantined(quarantine, new Set(missing), now)
    for (const name of names) {
      if (!missing.includes(name)) {
        since.delete(name)
        assert.notInclude(found.suspects, name, "a node that exists")
        continue
      }
      const start = since.get(name) ?? now
      const isDue = now - start >= 40_000
      assert.strictEqual(found.suspects.includes(name), isDue, `${name} at ${now} since ${start}`)
      since.set(name, isDue ? now : start)
    }
    assert.strictEqual(new Set(found.suspects).size, found.suspects.length)
    assert.isAtMost(found.quarantine.size, names.length)
    quarantine = found.quarantine
  }
}

describe("podgc quarantine", () => {
  it.effect.prop(
    "suspects a node after forty seconds of absence without a break, and again after another forty",
    { history: histories },
    ({ history }) => Effect.sync(() => check(history)),
    { arbitrary: { runs: runs(300) } }
  )
})
