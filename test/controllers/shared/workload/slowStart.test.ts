import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SlowStart from "../../../../src/controllers/shared/workload/slowStart.ts"
import { runs } from "../../../support/runs.ts"

const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

/** The number of calls, and the indexes of those that fail. */
const cases = Arbitrary.all({
  count: Arbitrary.schema(natural),
  failing: Arbitrary.array(Arbitrary.schema(natural), { maxLength: 3 })
})

/** Whether calls, batches and outcome are those of batches of 1, 2, 4, 8 …, up to a batch with a failure. */
const holds = ({ count, failing }: { count: number; failing: ReadonlyArray<number> }) =>
  Effect.gen(function* () {
    let calls = 0
    let running = 0
    const peaks: Array<number> = []
    const outcome = yield* SlowStart.run(
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

describe("slowStart", () => {
  it("batch sizes double and add up to the count", () => {
    assert.deepStrictEqual(SlowStart.batches(0), [])
    assert.deepStrictEqual(SlowStart.batches(1), [1])
    assert.deepStrictEqual(SlowStart.batches(20), [1, 2, 4, 8, 5])
    assert.deepStrictEqual(SlowStart.batches(500), [1, 2, 4, 8, 16, 32, 64, 128, 245])
  })

  it.effect("makes all calls in growing batches, until a batch with a failure", () =>
    Effect.map(Arbitrary.checkEffect(cases, holds, { runs: runs(200) }), (result) =>
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    )
  )
})
