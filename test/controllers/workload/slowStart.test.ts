import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SlowStart from "../../../src/controllers/workload/slowStart.ts"
import { load, type Mutation } from "../../support/mutant.ts"
import { runs } from "../../support/runs.ts"

const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

/** How many calls, and which of them fail, in the order they are made. */
const cases = Arbitrary.all({
  count: Arbitrary.schema(natural),
  failing: Arbitrary.array(Arbitrary.schema(natural), { maxLength: 3 })
})

/** Runs the module and compares what was called, when, with what the sizes 1, 2, 4, 8 … allow. */
const holds = (module: typeof SlowStart, { count, failing }: { count: number; failing: ReadonlyArray<number> }) =>
  Effect.gen(function* () {
    let calls = 0
    let running = 0
    const peaks: Array<number> = []
    const outcome = yield* module.run(
      count,
      Effect.suspend(() => {
        const index = calls++
        // A batch begins when nothing is running; its size is how many are running before one ends.
        if (running === 0) peaks.push(0)
        running++
        peaks[peaks.length - 1] = Math.max(peaks.at(-1) ?? 0, running)
        return Effect.yieldNow.pipe(
          Effect.andThen(Effect.sync(() => running--)),
          Effect.andThen(failing.includes(index) ? Effect.fail(index) : Effect.void)
        )
      })
    )
    const expected: Array<number> = []
    let made = 0
    for (let size = 1; made < count; size *= 2) {
      const batch = Math.min(size, count - made)
      expected.push(batch)
      made += batch
      if (failing.some((index) => index < made)) break
    }
    const failed = [...new Set(failing)].filter((index) => index < made)
    const first = failed.length === 0 ? undefined : Math.min(...failed)
    return (
      calls === made &&
      outcome.succeeded === made - failed.length &&
      outcome.failure?.error === first &&
      peaks.length === expected.length &&
      peaks.every((peak, i) => peak === expected[i])
    )
  })

const property = (module: typeof SlowStart, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(cases, (value) => holds(module, value), options)

const mutants: ReadonlyArray<Mutation> = [
  { title: "goes on after a failure", find: "if (outcome.failure !== undefined) break", replace: "" },
  { title: "batches do not grow", find: "size *= 2", replace: "size *= 1" },
  { title: "starts with everything", find: "size = 1;", replace: "size = count;" },
  { title: "the last failure is told", find: "outcome.failure ??= { error }", replace: "outcome.failure = { error }" },
  {
    title: "failures count as done",
    find: "onFailure: (error) => void (outcome.failure ??= { error })",
    replace: "onFailure: (error) => { outcome.succeeded++; outcome.failure ??= { error } }"
  },
  { title: "one at a time", find: `concurrency: "unbounded"`, replace: "concurrency: 1" }
]

describe("slowStart", () => {
  it("sizes double and add up", () => {
    assert.deepStrictEqual(SlowStart.batches(0), [])
    assert.deepStrictEqual(SlowStart.batches(1), [1])
    assert.deepStrictEqual(SlowStart.batches(20), [1, 2, 4, 8, 5])
    assert.deepStrictEqual(SlowStart.batches(500), [1, 2, 4, 8, 16, 32, 64, 128, 245])
  })

  it.effect("makes every call, in growing batches, until the batch in which one fails", () =>
    Effect.map(property(SlowStart, { runs: runs(200) }), (result) =>
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    )
  )

  for (const mutant of mutants) {
    it.effect(`mutant is caught: ${mutant.title}`, () =>
      Effect.gen(function* () {
        const module = yield* Effect.promise(() => load<typeof SlowStart>("controllers/workload/slowStart.ts", mutant))
        assert.strictEqual((yield* property(module, { runs: 200, maxShrinks: 0, seed: 1 }))._tag, "Falsified")
      })
    )
  }
})
