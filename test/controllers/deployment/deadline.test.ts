import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./harness.ts"

const { Deployment, scenario } = Stand

const progress = Effect.map(Stand.condition("Progressing"), (one) => `${one?.status} ${one?.reason}`)

describe("the progress deadline", () => {
  scenario(
    "is looked at a second after it has passed, and not before",
    Effect.gen(function* () {
      yield* Stand.start
      yield* Stand.create(Deployment, Stand.deployment({ progressDeadlineSeconds: 60 }))
      const [set] = yield* Stand.sets
      yield* Stand.advance("10 seconds")
      assert.isDefined(set)
      yield* Stand.tell(set, 3, 1)
      assert.strictEqual(yield* progress, "True ReplicaSetUpdated")
      const calls = yield* Stand.recording()
      // Since 10 s, for 60 s, and one more.
      yield* Stand.advance("60900 millis")
      assert.deepStrictEqual(calls, [])
      yield* Stand.advance("100 millis")
      assert.deepStrictEqual(calls.map(Stand.line), ["update deployments.apps/status web"])
      assert.deepInclude(yield* Stand.condition("Progressing"), {
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: `ReplicaSet "${set.metadata.name}" has timed out progressing.`,
        lastUpdateTime: "1970-01-01T00:01:11Z",
        lastTransitionTime: "1970-01-01T00:01:11Z"
      })
      yield* Stand.advance("1 hour")
      assert.lengthOf(calls, 1)
    })
  )

  scenario(
    "is watched closely in its last second",
    Effect.gen(function* () {
      yield* Stand.start
      yield* Stand.create(Deployment, Stand.deployment({ progressDeadlineSeconds: 60 }))
      yield* Stand.advance("59500 millis")
      yield* Stand.annotate({ any: "event" })
      yield* Stand.advance("500 millis")
      assert.strictEqual(yield* progress, "True NewReplicaSetCreated")
      yield* Stand.advance("100 millis")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
    })
  )

  scenario(
    "that has passed is forgotten when pods move again",
    Effect.gen(function* () {
      yield* Stand.start
      yield* Stand.create(Deployment, Stand.deployment({ progressDeadlineSeconds: 60 }))
      yield* Stand.advance("2 minutes")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
      const [set] = yield* Stand.sets
      assert.isDefined(set)
      yield* Stand.tell(set, 3, 1)
      assert.strictEqual(yield* progress, "True ReplicaSetUpdated")
      assert.strictEqual((yield* Stand.condition("Progressing"))?.lastTransitionTime, "1970-01-01T00:02:00Z")
      yield* Stand.tell(set, 3, 3)
      assert.strictEqual(yield* progress, "True NewReplicaSetAvailable")
    })
  )

  scenario(
    "does not run while the Deployment is paused, and not in place of a passed one",
    Effect.gen(function* () {
      yield* Stand.start
      yield* Stand.create(Deployment, Stand.deployment({ progressDeadlineSeconds: 60 }))
      yield* Stand.advance("30 seconds")
      yield* Stand.change({ paused: true })
      yield* Stand.advance("10 minutes")
      assert.strictEqual(yield* progress, "Unknown DeploymentPaused")
      yield* Stand.change({ paused: false })
      assert.strictEqual(yield* progress, "Unknown DeploymentResumed")
      yield* Stand.advance("60 seconds")
      assert.strictEqual(yield* progress, "Unknown DeploymentResumed")
      yield* Stand.advance("1 second")
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
      yield* Stand.change({ paused: true })
      assert.strictEqual(yield* progress, "False ProgressDeadlineExceeded")
    })
  )

  scenario(
    "does not matter to a rollout that is over: lost pods are no lack of progress, and nobody looks again and again",
    Effect.gen(function* () {
      yield* Stand.running({ progressDeadlineSeconds: 60 })
      assert.strictEqual(yield* progress, "True NewReplicaSetAvailable")
      const before = yield* Stand.condition("Progressing")
      yield* Stand.tell(yield* Stand.setOf("web:1"), 3, 1)
      const calls = yield* Stand.recording()
      yield* Stand.advance("1 hour")
      assert.deepStrictEqual(calls, [])
      assert.deepStrictEqual(yield* Stand.condition("Progressing"), before)
      assert.strictEqual((yield* Stand.condition("Available"))?.status, "False")
    })
  )

  scenario(
    "that is taken away takes the condition along",
    Effect.gen(function* () {
      yield* Stand.running({ progressDeadlineSeconds: 60 })
      yield* Stand.change({ progressDeadlineSeconds: 2147483647 })
      assert.isUndefined(yield* Stand.condition("Progressing"))
      yield* Stand.change({ progressDeadlineSeconds: 60 })
      const [set] = yield* Stand.sets
      assert.include(
        yield* Stand.said,
        `Progressing=True NewReplicaSetAvailable: ReplicaSet "${set?.metadata.name}" has successfully progressed.`
      )
    })
  )
})
