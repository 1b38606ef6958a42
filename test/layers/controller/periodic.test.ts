/** A scheduled controller whose runs fail: the schedule goes on, and runs never overlap. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Schedules from "../../../src/layers/Schedules.ts"
import * as Cluster from "../../support/cluster.ts"
import { logged } from "../../support/logged.ts"

/** The seconds at which runs began; each takes 2 s, and its number determines how it ends. */
const begun = (
  schedule: Schedule.Schedule<unknown, Schedules.Run>,
  end: (number: number) => Effect.Effect<void, string>
) => {
  const { lines, logger } = logged()
  return Effect.gen(function* () {
    const seconds: Array<number> = []
    const first = yield* Clock.currentTimeMillis
    let running = 0
    const { stop } = yield* Cluster.start(
      Controller.scheduled({
        name: "clock",
        access: [],
        schedule,
        run: () =>
          Effect.gen(function* () {
            seconds.push(((yield* Clock.currentTimeMillis) - first) / 1000)
            assert.strictEqual(++running, 1, "two runs at once")
            yield* Effect.sleep("2 seconds")
            running--
            yield* end(seconds.length)
          })
      })
    )
    yield* TestClock.adjust("29 seconds")
    yield* stop()
    return { seconds, failures: lines(/^clock: Scheduled run failed/).length }
  }).pipe(Effect.provide(Layer.provideMerge(Cluster.layer, logger)))
}

const badly = (number: number) => (number % 2 === 1 ? Effect.fail("no") : Effect.die(new Error("bug")))

describe("a scheduled controller", () => {
  it.effect("runs at once, keeps its schedule when runs fail or die, and logs each", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* begun(Schedule.spaced("10 seconds"), badly), { seconds: [0, 12, 24], failures: 3 })
      const nonSliding = yield* begun(Schedules.nonSliding("10 seconds"), badly)
      assert.deepStrictEqual(nonSliding, { seconds: [0, 10, 20], failures: 3 })
    })
  )

  it.effect("keeps its schedule when runs succeed, and logs nothing", () =>
    Effect.gen(function* () {
      const well = yield* begun(Schedule.spaced("10 seconds"), () => Effect.void)
      assert.deepStrictEqual(well, { seconds: [0, 12, 24], failures: 0 })
    })
  )
})
