import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const { Deployment, ReplicaSet, scenario } = Harness

/** Ten pods with a new template that never becomes ready: 8 old ones and 5 new ones. */
const stuck = Effect.gen(function* () {
  yield* Harness.running({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })
  yield* Harness.useImage("web:2")
  yield* Harness.completeReplicaSet("web:1")
  yield* Harness.setReplicaSetStatus(yield* Harness.setOf("web:2"), 5, 0)
  yield* Harness.advance("1 minute")
  assert.deepStrictEqual(yield* Harness.shape, ["web:1 8/8", "web:2 5/0"])
})

const notes = Effect.map(Harness.sets, (all) =>
  all.map((set) => `${Harness.note(set, "desired-replicas")} of ${Harness.note(set, "max-replicas")}`)
)

describe("a Deployment that is scaled", () => {
  scenario(
    "scales its only set, without a progress condition",
    Effect.gen(function* () {
      yield* Harness.running()
      const before = yield* Harness.condition("Progressing")
      const calls = yield* Harness.recording()
      yield* Harness.change({ replicas: 5 })
      const [set] = yield* Harness.sets
      assert.deepStrictEqual(calls.map(Harness.line), [
        "patch deployments.apps web",
        `update replicasets.apps ${set?.metadata.name}`,
        "update deployments.apps/status web"
      ])
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 5/3"])
      assert.deepStrictEqual(yield* notes, ["5 of 7"])
      assert.deepStrictEqual(yield* Harness.condition("Progressing"), before)
      const { status } = yield* Harness.get(Deployment)
      assert.deepInclude(status, { observedGeneration: 2, unavailableReplicas: 2 })
      yield* Harness.change({ replicas: 0 })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/3"])
      assert.deepStrictEqual((yield* Harness.events).slice(1), [
        `Normal ScalingReplicaSet Scaled up replica set ${set?.metadata.name} from 3 to 5`,
        `Normal ScalingReplicaSet Scaled down replica set ${set?.metadata.name} from 5 to 0`
      ])
    })
  )

  scenario(
    "during a rollout gives each set its share: 8 and 5 of 13 become 20 and 13 of 33",
    Effect.gen(function* () {
      yield* stuck
      yield* Harness.change({ replicas: 30 })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 20/8", "web:2 13/0"])
      assert.deepStrictEqual(yield* notes, ["30 of 33", "30 of 33"])
      const names = (yield* Harness.sets).map(({ metadata }) => metadata.name)
      assert.deepStrictEqual((yield* Harness.events).slice(-2), [
        `Normal ScalingReplicaSet Scaled up replica set ${names[0]} from 8 to 20`,
        `Normal ScalingReplicaSet Scaled up replica set ${names[1]} from 5 to 13`
      ])
    })
  )

  scenario(
    "writes sets whose size stays too, so that it is scaled once",
    Effect.gen(function* () {
      yield* stuck
      yield* Harness.patch(Deployment, "web", {
        spec: { replicas: 11, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } } }
      })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 8/8", "web:2 5/0"])
      assert.deepStrictEqual(yield* notes, ["11 of 13", "11 of 13"])
      assert.lengthOf(
        (yield* Harness.events).filter((text) => text.includes("Scaled up")),
        3
      )
    })
  )

  scenario(
    "to zero scales all sets to zero",
    Effect.gen(function* () {
      yield* stuck
      yield* Harness.change({ replicas: 0 })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/8", "web:2 0/0"])
    })
  )

  scenario(
    "scales old sets to zero when the new one is saturated",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 2 })
      yield* Harness.useImage("web:2")
      yield* Harness.completeReplicaSet("web:2")
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.completeReplicaSet("web:2")
      yield* Harness.completeReplicaSet("web:1")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 2/2"])
      const old = (yield* Harness.setOf("web:1")).metadata.name
      yield* Harness.patch(ReplicaSet, old, {
        spec: { replicas: 1 },
        metadata: { annotations: { "deployment.kubernetes.io/desired-replicas": "1" } }
      })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 2/2"])
      assert.strictEqual(
        (yield* Harness.events).at(-1),
        `Normal ScalingReplicaSet Scaled down replica set ${old} from 1 to 0`
      )
    })
  )
})

describe("a paused Deployment", () => {
  scenario(
    "creates nothing, and has a condition when it is paused and when it is resumed",
    Effect.gen(function* () {
      yield* Harness.start
      const calls = yield* Harness.recording()
      yield* Harness.create(Deployment, Harness.deployment({ paused: true }))
      assert.deepStrictEqual(calls.map(Harness.line), [
        "create deployments.apps web",
        "update deployments.apps/status web",
        "update deployments.apps/status web"
      ])
      assert.isUndefined(Harness.body(calls[1])?.status?.observedGeneration)
      assert.deepStrictEqual(yield* Harness.conditionTexts, [
        "Progressing=Unknown DeploymentPaused: Deployment is paused",
        "Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability."
      ])
      yield* Harness.advance("1 hour")
      calls.length = 0
      yield* Harness.change({ paused: false })
      const resumed = Harness.body(calls[1])?.status?.conditions?.at(-1)
      assert.deepInclude(resumed, {
        status: "Unknown",
        reason: "DeploymentResumed",
        message: "Deployment is resumed",
        lastUpdateTime: "1970-01-01T01:00:00Z",
        lastTransitionTime: "1970-01-01T00:00:00Z"
      })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/0"])
      assert.include((yield* Harness.conditionTexts).join(), "Progressing=True NewReplicaSetCreated")
    })
  )

  scenario(
    "during a rollout is scaled in proportion, and takes no other step",
    Effect.gen(function* () {
      yield* stuck
      yield* Harness.change({ paused: true })
      yield* Harness.completeReplicaSet("web:2")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 8/8", "web:2 5/5"])
      yield* Harness.change({ replicas: 20 })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 14/8", "web:2 9/5"])
      assert.include((yield* Harness.conditionTexts).join(), "Progressing=Unknown DeploymentPaused")
    })
  )

  scenario(
    "with another template keeps the old pods, and gets no new ReplicaSet until it is resumed",
    Effect.gen(function* () {
      yield* Harness.running()
      yield* Harness.change({ paused: true, template: { spec: Harness.podSpec("web:2") } })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/3"])
      const { status } = yield* Harness.get(Deployment)
      assert.deepStrictEqual([status?.observedGeneration, status?.updatedReplicas], [2, undefined])
    })
  )

  scenario(
    "without a deadline has no condition",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ paused: true, progressDeadlineSeconds: 2147483647 }))
      assert.deepStrictEqual(
        (yield* Harness.conditions).map(({ type }) => type),
        ["Available"]
      )
    })
  )
})
