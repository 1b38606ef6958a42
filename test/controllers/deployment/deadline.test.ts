import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const { Deployment, scenario } = Harness

const progress = Effect.map(Harness.condition("Progressing"), (one) => `${one?.status} ${one?.reason}`)

describe("the progress deadline", () => {
  scenario(
    "is checked one second after it has passed, and not before",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ progressDeadlineSeconds: 60 }))
      const [set] = yield* Harness.sets
      yield* Harness.advance("10 seconds")
      assert.isDefined(set)
      yield* Harness.setReplicaSetStatus(set, 3, 1)
      assert.strictEqual(yield* progress, "True ReplicaSetUpdated")
      const calls = yield* Harness.recording()
      // From 10 s, for 60 s, and one more.
      yield* Harness.advance("60900 millis")
      assert.deepStrictEqual(calls, [])
      yield* Harness.advance("100 millis")
      assert.deepStrictEqual(calls.map(Harness.line), ["update deployments.apps/status web"])
      assert.deepInclude(yield* Harness.condition("Progressing"), {
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: `ReplicaSet "${set.metadata.name}" has timed out progressing.`,
        lastUpdateTime: "1970-01-01T00:01:11Z",
        lastTransitionTime: "1970-01-01T00:01:11Z"
      })
      yield* Harness.advance("1 hour")
      assert.lengthOf(calls, 1)
    })
  )

  scenario(
    "is checked at the rate limit in its last second",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ progressDeadlineSeconds: 60 }))
      yield* Harness.advance("59500 millis")
      yield* Harness.annotate({ any: "event" })
      yield* Harness.advance("500 millis")
      assert.strictEqual(yield* progress, "True NewReplicaSetCreated")
      yield* Harness.advance("100 millis")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
    })
  )

  scenario(
    "that has passed is cleared when pods progress again",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ progressDeadlineSeconds: 60 }))
      yield* Harness.advance("2 minutes")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
      const [set] = yield* Harness.sets
      assert.isDefined(set)
      yield* Harness.setReplicaSetStatus(set, 3, 1)
      assert.strictEqual(yield* progress, "True ReplicaSetUpdated")
      assert.strictEqual((yield* Harness.condition("Progressing"))?.lastTransitionTime, "1970-01-01T00:02:00Z")
      yield* Harness.setReplicaSetStatus(set, 3, 3)
      assert.strictEqual(yield* progress, "True NewReplicaSetAvailable")
    })
  )

  scenario(
    "is suspended while the Deployment is paused, but a passed one stays",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ progressDeadlineSeconds: 60 }))
      yield* Harness.advance("30 seconds")
      yield* Harness.change({ paused: true })
      yield* Harness.advance("10 minutes")
      assert.strictEqual(yield* progress, "Unknown DeploymentPaused")
      yield* Harness.change({ paused: false })
      assert.strictEqual(yield* progress, "Unknown DeploymentResumed")
      yield* Harness.advance("60 seconds")
      assert.strictEqual(yield* progress, "Unknown DeploymentResumed")
      yield* Harness.advance("1 second")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
      yield* Harness.change({ paused: true })
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
    })
  )

  scenario(
    "does not affect a completed rollout: lost pods are no lack of progress, and nothing is requeued",
    Effect.gen(function* () {
      yield* Harness.running({ progressDeadlineSeconds: 60 })
      assert.strictEqual(yield* progress, "True NewReplicaSetAvailable")
      const before = yield* Harness.condition("Progressing")
      yield* Harness.setReplicaSetStatus(yield* Harness.setOf("web:1"), 3, 1)
      const calls = yield* Harness.recording()
      yield* Harness.advance("1 hour")
      assert.deepStrictEqual(calls, [])
      assert.deepStrictEqual(yield* Harness.condition("Progressing"), before)
      assert.strictEqual((yield* Harness.condition("Available"))?.status, "False")
    })
  )

  scenario(
    "that is removed takes the condition with it",
    Effect.gen(function* () {
      yield* Harness.running({ progressDeadlineSeconds: 60 })
      yield* Harness.change({ progressDeadlineSeconds: 2147483647 })
      assert.isUndefined(yield* Harness.condition("Progressing"))
      yield* Harness.change({ progressDeadlineSeconds: 60 })
      const [set] = yield* Harness.sets
      assert.include(
        yield* Harness.conditionTexts,
        `Progressing=True NewReplicaSetAvailable: ReplicaSet "${set?.metadata.name}" has successfully progressed.`
      )
    })
  )
})
