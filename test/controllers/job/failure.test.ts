/** How a Job fails: spec D.4, D.9. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod } from "../../../src/kube/resources.ts"
import * as Stand from "./harness.ts"

const reasonOf = (type: string) =>
  Effect.map(Stand.statusOf(), (status) => {
    const found = status?.conditions?.find((condition) => condition.type === type)
    return `${found?.status} ${found?.reason} ${found?.message}`
  })

describe("a Job whose pods fail", () => {
  it.effect("has them replaced after 10 s, 20 s, 40 s, up to 10 min", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ backoffLimit: 8 }))
        const delays: Array<number> = []
        for (let i = 0; i < 8; i++) {
          yield* Stand.endSome(1, 1)
          let seconds = 0
          do {
            yield* Stand.advance("1 second")
            seconds++
          } while ((yield* Stand.activePods).length === 0)
          delays.push(seconds)
        }
        assert.deepStrictEqual(delays, [10, 20, 40, 80, 160, 320, 600, 600])
        assert.deepInclude(yield* Stand.statusOf(), { active: 1, failed: 8 })
      })
    )
  )

  it.effect("tells who is active while it waits", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 4 }))
        yield* Stand.endSome(1, 1)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { active: 1, failed: 1 })
        yield* Stand.advance("10 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { active: 2, failed: 1 })
      })
    )
  )

  it.effect("begins anew after a success", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ completions: 9 }))
        for (const seconds of [11, 21]) {
          yield* Stand.endSome(1, 1)
          yield* Stand.advance(seconds * 1000)
        }
        yield* Stand.endSome(1, 0)
        yield* Stand.advance("2 seconds")
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("9 seconds")
        assert.lengthOf(yield* Stand.activePods, 0)
        yield* Stand.advance("1 second")
        assert.lengthOf(yield* Stand.activePods, 1)
      })
    )
  )

  it.effect("fails when too many have, and takes the others along", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 3, completions: 3, backoffLimit: 0 }))
        yield* Stand.bindAll
        const running = (yield* Stand.activePods).slice(1)
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("1 second")
        // The first word: those that still run are counted as failed, and nobody holds them.
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget"])
        assert.deepInclude(yield* Stand.statusOf(), {
          failed: 3,
          terminating: 2,
          ready: 0,
          uncountedTerminatedPods: {}
        })
        assert.deepStrictEqual((yield* Stand.pods).map(Stand.isHeld), [false, false, false])
        for (const pod of running) yield* Stand.takeAway(Stand.nameOf(pod))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        for (const type of ["FailureTarget", "Failed"])
          assert.strictEqual(
            yield* reasonOf(type),
            "True BackoffLimitExceeded Job has reached the specified backoff limit"
          )
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { failed: 3, terminating: 0 })
        assert.isUndefined(status?.completionTime)
        assert.deepStrictEqual(yield* Stand.news, [
          "Warning BackoffLimitExceeded Job has reached the specified backoff limit"
        ])
      })
    )
  )

  it.effect("counts restarts where containers are restarted", () =>
    Stand.world(
      Effect.gen(function* () {
        const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "work:1" }] } }
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2, backoffLimit: 3, template }))
        const [first, second] = yield* Stand.activePods
        yield* Stand.ready(first, 2)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.ready(second, 1)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Stand.statusOf(), { failed: 2 })
      })
    )
  )

  it.effect("with a limit of zero, fails at the first restart and not before", () =>
    Stand.world(
      Effect.gen(function* () {
        const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "work:1" }] } }
        yield* Stand.apply(Stand.job({ backoffLimit: 0, template }))
        const [pod] = yield* Stand.activePods
        yield* Stand.ready(pod, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.ready(pod, 1)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
      })
    )
  )

  it.effect("fails when it has been active for too long", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ activeDeadlineSeconds: 60 }))
        yield* Stand.advance("59 seconds")
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.advance("1 second")
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        assert.strictEqual(
          yield* reasonOf("Failed"),
          "True DeadlineExceeded Job was active longer than specified deadline"
        )
        assert.lengthOf(yield* Stand.activePods, 0)
        assert.deepInclude(yield* Stand.statusOf(), { failed: 1 })
      })
    )
  )

  it.effect("fails at its deadline, which counts from the full second of its start", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.advance("600 millis")
        yield* Stand.apply(Stand.job({ activeDeadlineSeconds: 2 }))
        yield* Stand.advance("1300 millis")
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.advance("200 millis")
        assert.include(yield* Stand.conditions, "FailureTarget")
      })
    )
  )

  it.effect("hears of a new deadline in the same moment", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ activeDeadlineSeconds: 3600 }))
        yield* Stand.advance("1 minute")
        yield* Stand.change({ activeDeadlineSeconds: 61 })
        assert.deepStrictEqual(yield* Stand.conditions, [])
        yield* Stand.advance("1 second")
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
      })
    )
  )

  it.effect("counts a pod that somebody deletes as failed", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const [pod] = yield* Stand.activePods
        yield* Stand.remove(Pod, Stand.nameOf(pod))
        // Held until it is counted.
        assert.lengthOf(yield* Stand.pods, 1)
        yield* Stand.advance("2 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { failed: 1 })
        assert.lengthOf(yield* Stand.pods, 0)
      })
    )
  )

  it.effect("that replaces only what has failed waits for the end of what is deleted", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2, podReplacementPolicy: "Failed" }))
        yield* Stand.bindAll
        const [pod] = yield* Stand.activePods
        yield* Stand.remove(Pod, Stand.nameOf(pod))
        yield* Stand.advance("1 minute")
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { active: 1, terminating: 1 })
        assert.isUndefined(status?.failed)
        yield* Stand.end(pod, 143)
        yield* Stand.advance("12 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { active: 2, terminating: 0, failed: 1 })
      })
    )
  )
})
