import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Namespace } from "../../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const { Deployment, ReplicaSet, scenario } = Harness

const refusals = (times: number): ReadonlyArray<Rule> => [
  {
    match: { verb: "create", resource: "replicasets.apps" },
    fault: { _tag: "Status", code: 500, reason: "InternalError", message: "the disk is full" },
    times
  }
]

/** The name of the template's ReplicaSet without a collision. */
const nextName = Effect.gen(function* () {
  yield* Harness.create(Deployment, Harness.deployment())
  const [set] = yield* Harness.sets
  yield* Harness.remove(Deployment, "web")
  yield* Harness.remove(ReplicaSet, set?.metadata.name ?? "")
  return set?.metadata.name ?? ""
})

describe("a ReplicaSet that cannot be created", () => {
  scenario(
    "leads to a condition and an event, and is retried",
    Effect.gen(function* () {
      yield* Harness.start
      const calls = yield* Harness.recording(refusals(1))
      yield* Harness.create(Deployment, Harness.deployment())
      const name = Harness.body(calls[1])?.metadata.name
      const message = `Failed to create new replica set "${name}": the disk is full`
      const recorded = Harness.body(calls[2])?.status
      assert.isUndefined(recorded?.observedGeneration)
      assert.deepInclude(recorded?.conditions?.[0], {
        type: "Progressing",
        status: "False",
        reason: "ReplicaSetCreateError",
        message
      })
      yield* Harness.advance("5 millis")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/0"])
      assert.deepStrictEqual(yield* Harness.events, [
        `Warning ReplicaSetCreateError ${message}`,
        `Normal ScalingReplicaSet Scaled up replica set ${name} from 0 to 3`
      ])
      assert.include((yield* Harness.conditionTexts).join(), "Progressing=True NewReplicaSetCreated")
    })
  )

  scenario(
    "leads to one condition whatever the number of retries, and is dropped after fifteen",
    Effect.gen(function* () {
      yield* Harness.start
      const calls = yield* Harness.recording(refusals(1000))
      yield* Harness.create(Deployment, Harness.deployment())
      yield* Harness.advance("1 day")
      const tried = calls.map(Harness.line)
      assert.lengthOf(
        tried.filter((line) => line.startsWith("create replicasets")),
        16
      )
      assert.lengthOf(
        tried.filter((line) => line.startsWith("update deployments.apps/status")),
        1
      )
      yield* Harness.recording()
      yield* Harness.annotate({ again: "please" })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/0"])
    })
  )

  scenario(
    "leads to no condition without a progress deadline",
    Effect.gen(function* () {
      yield* Harness.start
      const calls = yield* Harness.recording(refusals(1))
      yield* Harness.create(Deployment, Harness.deployment({ progressDeadlineSeconds: 2147483647 }))
      assert.deepStrictEqual(calls.slice(2).map(Harness.line), [])
      assert.lengthOf(yield* Harness.events, 1)
    })
  )

  scenario(
    "in a terminating namespace leads to no event",
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "going" } })
      yield* Harness.start
      yield* client.create(Deployment, Harness.deployment({ paused: true }, { namespace: "going" }))
      yield* Harness.settle
      const calls = yield* Harness.recording()
      yield* client.delete(Namespace, { name: "going" })
      yield* client.update(Deployment, {
        ...(yield* client.get(Deployment, { namespace: "going", name: "web" })),
        ...Harness.deployment({ paused: false }, { namespace: "going" })
      })
      yield* Harness.settle
      const tries = () => calls.filter((call) => Harness.line(call).startsWith("create")).length
      const first = tries()
      assert.isAbove(first, 0)
      yield* Harness.advance("1 hour")
      assert.strictEqual(tries(), first)
      assert.deepStrictEqual(yield* Harness.events, [])
    })
  )
})

describe("a name that is taken", () => {
  scenario(
    "by another owner's set is a collision: counted, and the next sync uses another name",
    Effect.gen(function* () {
      yield* Harness.start
      const name = yield* nextName
      const foreign = { apiVersion: "apps/v1", kind: "Deployment", name: "other", uid: "another", controller: true }
      yield* Harness.create(ReplicaSet, Harness.replicaSet(name, {}, { ownerReferences: [foreign] }))
      const calls = yield* Harness.recording()
      yield* Harness.create(Deployment, Harness.deployment())
      yield* Harness.advance("1 second")
      const made = calls.filter((call) => call.method === "POST").map((call) => Harness.body(call)?.metadata.name)
      assert.deepStrictEqual(made.slice(0, 2), ["web", name])
      const counted = calls.find((call) => Harness.line(call) === "update deployments.apps/status web")
      assert.deepStrictEqual(Harness.body(counted)?.status, { collisionCount: 1 })
      const { metadata, status } = yield* Harness.get(Deployment)
      assert.strictEqual(status?.collisionCount, 1)
      const own = (yield* Harness.sets).filter((set) => set.metadata.ownerReferences?.[0]?.uid === metadata.uid)
      assert.lengthOf(own, 1)
      assert.notStrictEqual(own[0]?.metadata.name, name)
    })
  )

  scenario(
    "by our own set with another template is a collision too",
    Effect.gen(function* () {
      yield* Harness.start
      const name = yield* nextName
      yield* Harness.create(Deployment, Harness.deployment({ paused: true }))
      const { metadata } = yield* Harness.get(Deployment)
      const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid, controller: true }
      const other = { replicas: 0, template: Harness.template("web:0") }
      yield* Harness.create(ReplicaSet, Harness.replicaSet(name, other, { ownerReferences: [owner] }))
      yield* Harness.change({ paused: false })
      yield* Harness.advance("1 second")
      assert.strictEqual((yield* Harness.get(Deployment)).status?.collisionCount, 1)
      // While the Deployment was paused, the old set was scaled as its only one.
      assert.deepStrictEqual([...(yield* Harness.shape)].sort(), ["web:0 3/0", "web:1 1/0"])
    })
  )
})

describe("existing ReplicaSets", () => {
  scenario(
    "are adopted if they match, and the one with the template is used",
    Effect.gen(function* () {
      yield* Harness.create(ReplicaSet, Harness.replicaSet("orphan"))
      yield* Harness.create(ReplicaSet, Harness.replicaSet("stranger", {}, { labels: { app: "other" } }))
      const foreign = { apiVersion: "apps/v1", kind: "Deployment", name: "other", uid: "another", controller: true }
      yield* Harness.create(ReplicaSet, Harness.replicaSet("owned", {}, { ownerReferences: [foreign] }))
      yield* Harness.start
      const calls = yield* Harness.recording()
      yield* Harness.create(Deployment, Harness.deployment())
      const { metadata } = yield* Harness.get(Deployment)
      assert.deepStrictEqual(
        new Set((yield* Harness.sets).map((set) => `${set.metadata.name} ${set.metadata.ownerReferences?.[0]?.uid}`)),
        new Set([`orphan ${metadata.uid}`, "owned another", "stranger undefined"])
      )
      assert.deepStrictEqual(calls.map(Harness.line).slice(1, 4), [
        "patch replicasets.apps orphan",
        "update replicasets.apps orphan",
        "update deployments.apps/status web"
      ])
      const recorded = calls.map(Harness.body).flatMap((one) => one?.status?.conditions ?? [])
      assert.isDefined(
        recorded.find(
          ({ message, reason }) => reason === "FoundNewReplicaSet" && message === 'Found new replica set "orphan"'
        )
      )
      assert.strictEqual(Harness.revisionOf({ metadata }), "1")
    })
  )

  scenario(
    "are released when they no longer match, and another is created",
    Effect.gen(function* () {
      yield* Harness.running()
      const [set] = yield* Harness.sets
      const name = set?.metadata.name ?? ""
      yield* Harness.patch(ReplicaSet, name, { metadata: { labels: { app: "mine" } } })
      assert.isUndefined((yield* Harness.get(ReplicaSet, name)).metadata.ownerReferences)
      // An orphan still has the name: a collision.
      yield* Harness.advance("1 second")
      const { metadata, status } = yield* Harness.get(Deployment)
      assert.strictEqual(status?.collisionCount, 1)
      const own = (yield* Harness.sets).filter((one) => one.metadata.ownerReferences?.[0]?.uid === metadata.uid)
      assert.lengthOf(own, 1)
      yield* Harness.patch(ReplicaSet, name, { metadata: { labels: Harness.labels } })
      assert.strictEqual((yield* Harness.get(ReplicaSet, name)).metadata.ownerReferences?.[0]?.uid, metadata.uid)
    })
  )

  scenario(
    "of a Deployment that is being deleted are not written; its status is kept current",
    Effect.gen(function* () {
      yield* Harness.running()
      const set = yield* Harness.setOf("web:1")
      yield* Harness.patch(Deployment, "web", { metadata: { finalizers: ["example.test/wait"] } })
      yield* Harness.remove(Deployment, "web")
      yield* Harness.create(ReplicaSet, Harness.replicaSet("orphan", { replicas: 0 }))
      const calls = yield* Harness.recording()
      yield* Harness.change({ replicas: 9, paused: true })
      yield* Harness.setReplicaSetStatus(set, 3, 2)
      assert.isUndefined((yield* Harness.get(ReplicaSet, "orphan")).metadata.ownerReferences)
      assert.deepStrictEqual(
        new Set(calls.map(Harness.line)),
        new Set([
          "patch deployments.apps web",
          `patch replicasets.apps/status ${set.metadata.name}`,
          "update deployments.apps/status web"
        ])
      )
      const { status } = yield* Harness.get(Deployment)
      assert.deepInclude(status, { availableReplicas: 2 })
      assert.notInclude((yield* Harness.conditionTexts).join(), "DeploymentPaused")
    })
  )
})
