import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Namespace } from "../../../src/kube/resources.ts"
import * as Stand from "./harness.ts"

const { Deployment, ReplicaSet, scenario } = Stand

const refusals = (times: number): ReadonlyArray<Rule> => [
  {
    match: { verb: "create", resource: "replicasets.apps" },
    fault: { _tag: "Status", code: 500, reason: "InternalError", message: "the disk is full" },
    times
  }
]

/** The name that the ReplicaSet of the template will have: what one gets where nobody has it. */
const nextName = Effect.gen(function* () {
  yield* Stand.create(Deployment, Stand.deployment())
  const [set] = yield* Stand.sets
  yield* Stand.remove(Deployment, "web")
  yield* Stand.remove(ReplicaSet, set?.metadata.name ?? "")
  return set?.metadata.name ?? ""
})

describe("a ReplicaSet that cannot be created", () => {
  scenario(
    "is told of in a condition and an event, and tried again",
    Effect.gen(function* () {
      yield* Stand.start
      const calls = yield* Stand.recording(refusals(1))
      yield* Stand.create(Deployment, Stand.deployment())
      const name = Stand.body(calls[1])?.metadata.name
      const message = `Failed to create new replica set "${name}": the disk is full`
      const told = Stand.body(calls[2])?.status
      assert.isUndefined(told?.observedGeneration)
      assert.deepInclude(told?.conditions?.[0], {
        type: "Progressing",
        status: "False",
        reason: "ReplicaSetCreateError",
        message
      })
      yield* Stand.advance("5 millis")
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 3/0"])
      assert.deepStrictEqual(yield* Stand.events, [
        `Warning ReplicaSetCreateError ${message}`,
        `Normal ScalingReplicaSet Scaled up replica set ${name} from 0 to 3`
      ])
      assert.include((yield* Stand.said).join(), "Progressing=True NewReplicaSetCreated")
    })
  )

  scenario(
    "is told of once, whatever the number of tries, and given up after fifteen more",
    Effect.gen(function* () {
      yield* Stand.start
      const calls = yield* Stand.recording(refusals(1000))
      yield* Stand.create(Deployment, Stand.deployment())
      yield* Stand.advance("1 day")
      const tried = calls.map(Stand.line)
      assert.lengthOf(
        tried.filter((line) => line.startsWith("create replicasets")),
        16
      )
      assert.lengthOf(
        tried.filter((line) => line.startsWith("update deployments.apps/status")),
        1
      )
      yield* Stand.recording()
      yield* Stand.annotate({ again: "please" })
      assert.deepStrictEqual(yield* Stand.shape, ["web:1 3/0"])
    })
  )

  scenario(
    "is not told of in a condition where progress is not judged",
    Effect.gen(function* () {
      yield* Stand.start
      const calls = yield* Stand.recording(refusals(1))
      yield* Stand.create(Deployment, Stand.deployment({ progressDeadlineSeconds: 2147483647 }))
      assert.deepStrictEqual(calls.slice(2).map(Stand.line), [])
      assert.lengthOf(yield* Stand.events, 1)
    })
  )

  scenario(
    "in a namespace that goes is nobody's concern",
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "going" } })
      yield* Stand.start
      yield* client.create(Deployment, Stand.deployment({ paused: true }, { namespace: "going" }))
      yield* Stand.settle
      const calls = yield* Stand.recording()
      yield* client.delete(Namespace, { name: "going" })
      yield* client.update(Deployment, {
        ...(yield* client.get(Deployment, { namespace: "going", name: "web" })),
        ...Stand.deployment({ paused: false }, { namespace: "going" })
      })
      yield* Stand.settle
      const tries = () => calls.filter((call) => Stand.line(call).startsWith("create")).length
      const first = tries()
      assert.isAbove(first, 0)
      yield* Stand.advance("1 hour")
      assert.strictEqual(tries(), first)
      assert.deepStrictEqual(yield* Stand.events, [])
    })
  )
})

describe("a name that is taken", () => {
  scenario(
    "by another owner's set is a collision: counted, and the next try has another name",
    Effect.gen(function* () {
      yield* Stand.start
      const name = yield* nextName
      const foreign = { apiVersion: "apps/v1", kind: "Deployment", name: "other", uid: "another", controller: true }
      yield* Stand.create(ReplicaSet, Stand.replicaSet(name, {}, { ownerReferences: [foreign] }))
      const calls = yield* Stand.recording()
      yield* Stand.create(Deployment, Stand.deployment())
      yield* Stand.advance("1 second")
      const made = calls.filter((call) => call.method === "POST").map((call) => Stand.body(call)?.metadata.name)
      assert.deepStrictEqual(made.slice(0, 2), ["web", name])
      const counted = calls.find((call) => Stand.line(call) === "update deployments.apps/status web")
      assert.deepStrictEqual(Stand.body(counted)?.status, { collisionCount: 1 })
      const { metadata, status } = yield* Stand.get(Deployment)
      assert.strictEqual(status?.collisionCount, 1)
      const own = (yield* Stand.sets).filter((set) => set.metadata.ownerReferences?.[0]?.uid === metadata.uid)
      assert.lengthOf(own, 1)
      assert.notStrictEqual(own[0]?.metadata.name, name)
    })
  )

  scenario(
    "by our own set with another template is a collision too",
    Effect.gen(function* () {
      yield* Stand.start
      const name = yield* nextName
      yield* Stand.create(Deployment, Stand.deployment({ paused: true }))
      const { metadata } = yield* Stand.get(Deployment)
      const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid, controller: true }
      const other = { replicas: 0, template: Stand.template("web:0") }
      yield* Stand.create(ReplicaSet, Stand.replicaSet(name, other, { ownerReferences: [owner] }))
      yield* Stand.change({ paused: false })
      yield* Stand.advance("1 second")
      assert.strictEqual((yield* Stand.get(Deployment)).status?.collisionCount, 1)
      // While it was paused the old set was scaled as the only one there is.
      assert.deepStrictEqual([...(yield* Stand.shape)].sort(), ["web:0 3/0", "web:1 1/0"])
    })
  )
})

describe("ReplicaSets that are there already", () => {
  scenario(
    "are adopted if they match, and the one with the template is found",
    Effect.gen(function* () {
      yield* Stand.create(ReplicaSet, Stand.replicaSet("orphan"))
      yield* Stand.create(ReplicaSet, Stand.replicaSet("stranger", {}, { labels: { app: "other" } }))
      const foreign = { apiVersion: "apps/v1", kind: "Deployment", name: "other", uid: "another", controller: true }
      yield* Stand.create(ReplicaSet, Stand.replicaSet("owned", {}, { ownerReferences: [foreign] }))
      yield* Stand.start
      const calls = yield* Stand.recording()
      yield* Stand.create(Deployment, Stand.deployment())
      const { metadata } = yield* Stand.get(Deployment)
      assert.deepStrictEqual(
        new Set((yield* Stand.sets).map((set) => `${set.metadata.name} ${set.metadata.ownerReferences?.[0]?.uid}`)),
        new Set([`orphan ${metadata.uid}`, "owned another", "stranger undefined"])
      )
      assert.deepStrictEqual(calls.map(Stand.line).slice(1, 4), [
        "patch replicasets.apps orphan",
        "update replicasets.apps orphan",
        "update deployments.apps/status web"
      ])
      const told = calls.map(Stand.body).flatMap((one) => one?.status?.conditions ?? [])
      assert.isDefined(
        told.find(
          ({ message, reason }) => reason === "FoundNewReplicaSet" && message === 'Found new replica set "orphan"'
        )
      )
      assert.strictEqual(Stand.revisionOf({ metadata }), "1")
    })
  )

  scenario(
    "are released when they no longer match, and another is made",
    Effect.gen(function* () {
      yield* Stand.running()
      const [set] = yield* Stand.sets
      const name = set?.metadata.name ?? ""
      yield* Stand.patch(ReplicaSet, name, { metadata: { labels: { app: "mine" } } })
      assert.isUndefined((yield* Stand.get(ReplicaSet, name)).metadata.ownerReferences)
      // Its name is still taken, by a set that is nobody's: a collision.
      yield* Stand.advance("1 second")
      const { metadata, status } = yield* Stand.get(Deployment)
      assert.strictEqual(status?.collisionCount, 1)
      const own = (yield* Stand.sets).filter((one) => one.metadata.ownerReferences?.[0]?.uid === metadata.uid)
      assert.lengthOf(own, 1)
      yield* Stand.patch(ReplicaSet, name, { metadata: { labels: Stand.labels } })
      assert.strictEqual((yield* Stand.get(ReplicaSet, name)).metadata.ownerReferences?.[0]?.uid, metadata.uid)
    })
  )

  scenario(
    "of a Deployment that is being deleted are left alone; its status still tells the truth",
    Effect.gen(function* () {
      yield* Stand.running()
      const set = yield* Stand.setOf("web:1")
      yield* Stand.patch(Deployment, "web", { metadata: { finalizers: ["example.test/wait"] } })
      yield* Stand.remove(Deployment, "web")
      yield* Stand.create(ReplicaSet, Stand.replicaSet("orphan", { replicas: 0 }))
      const calls = yield* Stand.recording()
      yield* Stand.change({ replicas: 9, paused: true })
      yield* Stand.tell(set, 3, 2)
      assert.isUndefined((yield* Stand.get(ReplicaSet, "orphan")).metadata.ownerReferences)
      assert.deepStrictEqual(
        new Set(calls.map(Stand.line)),
        new Set([
          "patch deployments.apps web",
          `patch replicasets.apps/status ${set.metadata.name}`,
          "update deployments.apps/status web"
        ])
      )
      const { status } = yield* Stand.get(Deployment)
      assert.deepInclude(status, { availableReplicas: 2 })
      assert.notInclude((yield* Stand.said).join(), "DeploymentPaused")
    })
  )
})
