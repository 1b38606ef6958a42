import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./harness.ts"

const { Deployment, ReplicaSet, scenario } = Stand

/** Ten pods with a new template that never gets ready: 8 old ones and 5 new ones. */
const stuck = Effect.gen(function* () {
  yield* Stand.running({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })
  yield* Stand.useImage("web:2")
  yield* Stand.obey("web:1")
  yield* Stand.tell(yield* Stand.setOf("web:2"), 5, 0)
  yield* Stand.advance("1 minute")
  assert.deepStrictEqual(yield* Stand.shape, ["web:1 8/8", "web:2 5/0"])
})

const notes = Effect.map(Stand.sets, (all) =>
  all.map((set) => `${Stand.note(set, "desired-replicas")} of ${Stand.note(set, "max-replicas")}`)
)

describe("a Deployment that is scaled", () => {
  scenario(
    "has its only set follow, without a word about progress",
    Effect.gen(function* () {
      yield* Stand.running()
      const before = yield* Stand.condition("Progressing")
      const calls = yield* Stand.recording()
      yield* Stand.change({ replicas: 5 })
      const [set] = yield* Stand.sets
      assert.deepStrictEqual(calls.map(Stand.line), [
        "patch deployments.apps web",
        `update replicasets.apps ${set?.metadata.name}`,
        "update deployments.apps/status web"
      ])
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 5/3"])
      assert.deepStrictEqual(yield* notes, ["5 of 7"])
      assert.deepStrictEqual(yield* Stand.condition("Progressing"), before)
      const { status } = yield* Stand.get(Deployment)
      assert.deepInclude(status, { observedGeneration: 2, unavailableReplicas: 2 })
      yield* Stand.change({ replicas: 0 })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 0/3"])
      assert.deepStrictEqual((yield* Stand.events).slice(1), [
        `Normal ScalingReplicaSet Scaled up replica set ${set?.metadata.name} from 3 to 5`,
        `Normal ScalingReplicaSet Scaled down replica set ${set?.metadata.name} from 5 to 0`
      ])
    })
  )

  scenario(
    "in the middle of a rollout gives each set its share: 8 and 5 of 13 become 20 and 13 of 33",
    Effect.gen(function* () {
      yield* stuck
      yield* Stand.change({ replicas: 30 })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 20/8", "web:2 13/0"])
      assert.deepStrictEqual(yield* notes, ["30 of 33", "30 of 33"])
      const names = (yield* Stand.sets).map(({ metadata }) => metadata.name)
      assert.deepStrictEqual((yield* Stand.events).slice(-2), [
        `Normal ScalingReplicaSet Scaled up replica set ${names[0]} from 8 to 20`,
        `Normal ScalingReplicaSet Scaled up replica set ${names[1]} from 5 to 13`
      ])
    })
  )

  scenario(
    "writes sets whose size stays too, so that it is scaled once",
    Effect.gen(function* () {
      yield* stuck
      yield* Stand.patch(Deployment, "web", {
        spec: { replicas: 11, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } } }
      })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 8/8", "web:2 5/0"])
      assert.deepStrictEqual(yield* notes, ["11 of 13", "11 of 13"])
      assert.lengthOf(
        (yield* Stand.events).filter((text) => text.includes("Scaled up")),
        3
      )
    })
  )

  scenario(
    "to nothing loses all pods",
    Effect.gen(function* () {
      yield* stuck
      yield* Stand.change({ replicas: 0 })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 0/8", "web:2 0/0"])
    })
  )

  scenario(
    "loses what is left of old sets when the new one has everything",
    Effect.gen(function* () {
      yield* Stand.running({ replicas: 2 })
      yield* Stand.useImage("web:2")
      yield* Stand.obey("web:2")
      yield* Stand.obey("web:1")
      yield* Stand.obey("web:2")
      yield* Stand.obey("web:1")
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 0/0", "web:2 2/2"])
      const old = (yield* Stand.setOf("web:1")).metadata.name
      yield* Stand.patch(ReplicaSet, old, {
        spec: { replicas: 1 },
        metadata: { annotations: { "deployment.kubernetes.io/desired-replicas": "1" } }
      })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 0/0", "web:2 2/2"])
      assert.strictEqual(
        (yield* Stand.events).at(-1),
        `Normal ScalingReplicaSet Scaled down replica set ${old} from 1 to 0`
      )
    })
  )
})

describe("a paused Deployment", () => {
  scenario(
    "creates nothing, says so, and says when it goes on",
    Effect.gen(function* () {
      yield* Stand.start
      const calls = yield* Stand.recording()
      yield* Stand.create(Deployment, Stand.deployment({ paused: true }))
      assert.deepStrictEqual(calls.map(Stand.line), [
        "create deployments.apps web",
        "update deployments.apps/status web",
        "update deployments.apps/status web"
      ])
      assert.isUndefined(Stand.body(calls[1])?.status?.observedGeneration)
      assert.deepStrictEqual(yield* Stand.said, [
        "Progressing=Unknown DeploymentPaused: Deployment is paused",
        "Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability."
      ])
      yield* Stand.advance("1 hour")
      calls.length = 0
      yield* Stand.change({ paused: false })
      const resumed = Stand.body(calls[1])?.status?.conditions?.at(-1)
      assert.deepInclude(resumed, {
        status: "Unknown",
        reason: "DeploymentResumed",
        message: "Deployment is resumed",
        lastUpdateTime: "1970-01-01T01:00:00Z",
        lastTransitionTime: "1970-01-01T00:00:00Z"
      })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 3/0"])
      assert.include((yield* Stand.said).join(), "Progressing=True NewReplicaSetCreated")
    })
  )

  scenario(
    "in the middle of a rollout is scaled in proportion, and takes no step",
    Effect.gen(function* () {
      yield* stuck
      yield* Stand.change({ paused: true })
      yield* Stand.obey("web:2")
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 8/8", "web:2 5/5"])
      yield* Stand.change({ replicas: 20 })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 14/8", "web:2 9/5"])
      assert.include((yield* Stand.said).join(), "Progressing=Unknown DeploymentPaused")
    })
  )

  scenario(
    "with another template keeps the old pods, and its new ReplicaSet for later",
    Effect.gen(function* () {
      yield* Stand.running()
      yield* Stand.change({ paused: true, template: { spec: Stand.podSpec("web:2") } })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 3/3"])
      const { status } = yield* Stand.get(Deployment)
      assert.deepStrictEqual([status?.observedGeneration, status?.updatedReplicas], [2, undefined])
    })
  )

  scenario(
    "without a deadline says nothing about it",
    Effect.gen(function* () {
      yield* Stand.start
      yield* Stand.create(Deployment, Stand.deployment({ paused: true, progressDeadlineSeconds: 2147483647 }))
      assert.deepStrictEqual(
        (yield* Stand.conditions).map(({ type }) => type),
        ["Available"]
      )
    })
  )
})
