/** Failures of a Job: backoff limit, active deadline, failed and deleted pods. Source: pkg/controller/job: syncJob. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod } from "../../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const reasonOf = (type: string) =>
  Effect.map(Harness.statusOf(), (status) => {
    const found = status?.conditions?.find((condition) => condition.type === type)
    return `${found?.status} ${found?.reason} ${found?.message}`
  })

describe("a Job whose pods fail", () => {
  it.effect("replaces them after a backoff of 10 s, 20 s, 40 s, up to 10 min", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ backoffLimit: 8 }))
        const delays: Array<number> = []
        for (let i = 0; i < 8; i++) {
          yield* Harness.endSome(1, 1)
          let seconds = 0
          do {
            yield* Harness.advance("1 second")
            seconds++
          } while ((yield* Harness.activePods).length === 0)
          delays.push(seconds)
        }
        assert.deepStrictEqual(delays, [10, 20, 40, 80, 160, 320, 600, 600])
        assert.deepInclude(yield* Harness.statusOf(), { active: 1, failed: 8 })
      })
    )
  )

  it.effect("reports its active pods in the status during the backoff", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 4 }))
        yield* Harness.endSome(1, 1)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { active: 1, failed: 1 })
        yield* Harness.advance("10 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { active: 2, failed: 1 })
      })
    )
  )

  it.effect("resets the backoff after a success", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ completions: 9 }))
        for (const seconds of [11, 21]) {
          yield* Harness.endSome(1, 1)
          yield* Harness.advance(seconds * 1000)
        }
        yield* Harness.endSome(1, 0)
        yield* Harness.advance("2 seconds")
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("9 seconds")
        assert.lengthOf(yield* Harness.activePods, 0)
        yield* Harness.advance("1 second")
        assert.lengthOf(yield* Harness.activePods, 1)
      })
    )
  )

  it.effect("fails when more pods than backoffLimit have failed, and deletes its active pods", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 3, completions: 3, backoffLimit: 0 }))
        yield* Harness.bindAll
        const running = (yield* Harness.activePods).slice(1)
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("1 second")
        // With the interim condition, active pods are counted as failed and lose the finalizer.
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget"])
        assert.deepInclude(yield* Harness.statusOf(), {
          failed: 3,
          terminating: 2,
          ready: 0,
          uncountedTerminatedPods: {}
        })
        assert.deepStrictEqual((yield* Harness.pods).map(Harness.isTracked), [false, false, false])
        for (const pod of running) yield* Harness.deleteNow(Harness.nameOf(pod))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        for (const type of ["FailureTarget", "Failed"])
          assert.strictEqual(
            yield* reasonOf(type),
            "True BackoffLimitExceeded Job has reached the specified backoff limit"
          )
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { failed: 3, terminating: 0 })
        assert.isUndefined(status?.completionTime)
        assert.deepStrictEqual(yield* Harness.jobEvents, [
          "Warning BackoffLimitExceeded Job has reached the specified backoff limit"
        ])
      })
    )
  )

  it.effect("with restartPolicy OnFailure fails when containers have restarted as often as backoffLimit", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "work:1" }] } }
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2, backoffLimit: 3, template }))
        const [first, second] = yield* Harness.activePods
        yield* Harness.ready(first, 2)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.ready(second, 1)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        assert.deepInclude(yield* Harness.statusOf(), { failed: 2 })
      })
    )
  )

  it.effect("with restartPolicy OnFailure and backoffLimit 0 fails at the first restart", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "work:1" }] } }
        yield* Harness.apply(Harness.job({ backoffLimit: 0, template }))
        const [pod] = yield* Harness.activePods
        yield* Harness.ready(pod, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.ready(pod, 1)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
      })
    )
  )

  it.effect("fails when activeDeadlineSeconds have passed", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ activeDeadlineSeconds: 60 }))
        yield* Harness.advance("59 seconds")
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.advance("1 second")
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        assert.strictEqual(
          yield* reasonOf("Failed"),
          "True DeadlineExceeded Job was active longer than specified deadline"
        )
        assert.lengthOf(yield* Harness.activePods, 0)
        assert.deepInclude(yield* Harness.statusOf(), { failed: 1 })
      })
    )
  )

  it.effect("fails at its deadline, measured from startTime, which has full seconds", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.advance("600 millis")
        yield* Harness.apply(Harness.job({ activeDeadlineSeconds: 2 }))
        yield* Harness.advance("1300 millis")
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.advance("200 millis")
        assert.include(yield* Harness.conditions, "FailureTarget")
      })
    )
  )

  it.effect("applies a changed deadline at once", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ activeDeadlineSeconds: 3600 }))
        yield* Harness.advance("1 minute")
        yield* Harness.change({ activeDeadlineSeconds: 61 })
        assert.deepStrictEqual(yield* Harness.conditions, [])
        yield* Harness.advance("1 second")
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
      })
    )
  )

  it.effect("counts a pod that a user deletes as failed", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const [pod] = yield* Harness.activePods
        yield* Harness.remove(Pod, Harness.nameOf(pod))
        // The finalizer keeps the pod until it is counted.
        assert.lengthOf(yield* Harness.pods, 1)
        yield* Harness.advance("2 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { failed: 1 })
        assert.lengthOf(yield* Harness.pods, 0)
      })
    )
  )

  it.effect("with podReplacementPolicy Failed replaces a terminating pod after it has ended", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2, podReplacementPolicy: "Failed" }))
        yield* Harness.bindAll
        const [pod] = yield* Harness.activePods
        yield* Harness.remove(Pod, Harness.nameOf(pod))
        yield* Harness.advance("1 minute")
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { active: 1, terminating: 1 })
        assert.isUndefined(status?.failed)
        yield* Harness.end(pod, 143)
        yield* Harness.advance("12 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { active: 2, terminating: 0, failed: 1 })
      })
    )
  )
})
