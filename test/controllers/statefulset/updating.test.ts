/** How a new template comes to the pods of a StatefulSet, from the last to the first, and how an old one comes back. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import * as Stand from "./harness.ts"

const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } })

/** Which revision each pod is of: `u` for the one that is rolled out, `c` for the one before, `?` for any other. */
const letters = Effect.gen(function* () {
  const { currentRevision, updateRevision } = yield* Stand.status
  return (yield* Stand.pods)
    .map(Stand.revisionOf)
    .map((revision) => (revision === updateRevision ? "u" : revision === currentRevision ? "c" : "?"))
    .join("")
})

/** What could be seen of the pods, each state once, in order. */
const watched = (seconds: number) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    for (let i = 0; i < seconds * 4; i++) {
      yield* Stand.advance("250 millis")
      const state = (yield* Stand.pods)
        .map((pod) => `${pod.metadata.name}${pod.metadata.deletionTimestamp === undefined ? "" : "!"}`)
        .join(" ")
      if (seen.at(-1) !== state) seen.push(state)
    }
    return seen
  })

Stand.scenario(
  "replaces one pod after the other, from the last to the first",
  Effect.gen(function* () {
    yield* Stand.running()
    const before = (yield* Stand.status).currentRevision
    yield* Stand.useImage("web:2")
    const during = yield* Stand.status
    assert.strictEqual(during.currentRevision, before)
    assert.notStrictEqual(during.updateRevision, before)
    assert.deepInclude(during, { replicas: 3, currentReplicas: 2, observedGeneration: 2 })
    const seen = yield* watched(20)
    const going = seen.filter((state) => state.includes("!"))
    assert.deepStrictEqual(going, ["web-0 web-1 web-2!", "web-0 web-1! web-2", "web-0! web-1 web-2"])
    assert.deepStrictEqual(yield* Stand.images, ["web:2", "web:2", "web:2"])
    const after = yield* Stand.status
    assert.strictEqual(after.currentRevision, during.updateRevision)
    assert.deepInclude(after, { currentReplicas: 3, updatedReplicas: 3, updateRevision: during.updateRevision })
  })
)

Stand.scenario(
  "stops at a pod that does not work, goes back, and knows the revision that it goes back to",
  Effect.gen(function* () {
    yield* Stand.running()
    const first = (yield* Stand.status).currentRevision
    yield* Stand.unready("web-1")
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "ccc")
    yield* Stand.unready("web-1", false)
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    const second = (yield* Stand.status).currentRevision
    yield* Stand.unready("web-1")
    yield* Stand.useImage("web:1")
    const back = yield* Stand.status
    assert.deepInclude(back, { currentRevision: second, updateRevision: first })
    yield* Stand.unready("web-1", false)
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:1"])
    assert.deepInclude(yield* Stand.status, { currentRevision: first, updateRevision: first })
    const revisions = yield* Stand.revisions
    assert.deepStrictEqual(
      revisions.map(({ metadata, revision }) => `${metadata.name} ${revision}`),
      [`${second} 2`, `${first} 3`]
    )
  })
)

Stand.scenario(
  "a template that cannot run holds the update up, and an ordered set waits for somebody to take the pod away",
  Effect.gen(function* () {
    yield* Stand.running()
    yield* Stand.useImage("web:404")
    yield* Stand.advance("2 minutes")
    assert.strictEqual(yield* letters, "ccu")
    yield* Stand.useImage("web:1")
    yield* Stand.advance("2 minutes")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:404"])
    yield* Stand.remove(Stand.Pod, "web-2")
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:1"])
  })
)

Stand.scenario(
  "a parallel set goes back from a template that cannot run",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet({ podManagementPolicy: "Parallel" }))
    yield* Stand.useImage("web:404")
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "ccu")
    yield* Stand.useImage("web:1")
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:1"])
    assert.strictEqual(yield* letters, "uuu")
  })
)

Stand.scenario(
  "a partition keeps the first pods, gives them back what they were, and goes down step by step",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet(rolling({ partition: 3 })))
    const first = (yield* Stand.status).currentRevision
    yield* Stand.useImage("web:2")
    yield* Stand.advance("30 seconds")
    assert.strictEqual(yield* letters, "ccc")
    const { currentRevision, updateRevision } = yield* Stand.status
    assert.strictEqual(currentRevision, first)
    assert.notStrictEqual(updateRevision, first)
    yield* Stand.change(rolling({ partition: 2 }))
    yield* Stand.advance("30 seconds")
    assert.strictEqual(yield* letters, "ccu")
    yield* Stand.remove(Stand.Pod, "web-0")
    yield* Stand.remove(Stand.Pod, "web-2")
    yield* Stand.advance("30 seconds")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:2"])
    assert.strictEqual(yield* letters, "ccu")
    for (const [partition, expected] of [
      [1, "cuu"],
      [0, "uuu"]
    ] as const) {
      yield* Stand.change(rolling({ partition }))
      yield* Stand.advance("30 seconds")
      assert.strictEqual(yield* letters, expected)
    }
    assert.deepInclude(yield* Stand.status, { currentRevision: updateRevision, updateRevision, currentReplicas: 3 })
  })
)

Stand.scenario(
  "a partition counts places, not ordinals",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet({ ordinals: { start: 5 }, ...rolling({ partition: 2 }) }))
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.names, ["web-5", "web-6", "web-7"])
    assert.strictEqual(yield* letters, "ccu")
    yield* Stand.remove(Stand.Pod, "web-6")
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "ccu")
  })
)

Stand.scenario(
  "a pod below the partition that somebody holds keeps its revision when it comes back",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet(rolling({ partition: 1 })))
    yield* Stand.patch(Stand.Pod, "web-0", { metadata: { finalizers: ["example.test/held"] } })
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    assert.deepInclude(yield* Stand.status, { replicas: 3, readyReplicas: 3, updatedReplicas: 2 })
    yield* Stand.remove(Stand.Pod, "web-0")
    yield* Stand.advance("1 minute")
    assert.deepInclude(yield* Stand.status, { replicas: 3, readyReplicas: 2, updatedReplicas: 2, currentReplicas: 0 })
    yield* Stand.patch(Stand.Pod, "web-0", { metadata: { finalizers: null } })
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:2", "web:2"])
    assert.strictEqual(yield* letters, "cuu")
  })
)

Stand.scenario(
  "leaves pods to whoever deletes them, if it is told so",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet({ updateStrategy: { type: "OnDelete" } }))
    yield* Stand.remove(Stand.Pod, "web-1")
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "ccc")
    const { currentRevision, updateRevision } = yield* Stand.status
    assert.notStrictEqual(currentRevision, updateRevision)
    for (const name of ["web-0", "web-1", "web-2"]) yield* Stand.remove(Stand.Pod, name)
    yield* Stand.advance("2 minutes")
    assert.deepStrictEqual(yield* Stand.images, ["web:2", "web:2", "web:2"])
    assert.strictEqual(yield* letters, "uuu")
    // Nobody says that an update is done which nobody rolled out.
    assert.deepInclude(yield* Stand.status, { currentRevision, updateRevision, updatedReplicas: 3, currentReplicas: 0 })
  })
)

Stand.scenario(
  "new pods are ready for a while before the next one goes",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet({ replicas: 2, minReadySeconds: 20 }))
    yield* Stand.advance("1 minute")
    yield* Stand.useImage("web:2")
    yield* Stand.advance("15 seconds")
    assert.strictEqual(yield* letters, "cu")
    yield* Stand.advance("30 seconds")
    assert.strictEqual(yield* letters, "uu")
    yield* Stand.advance("30 seconds")
    assert.deepInclude(yield* Stand.status, { availableReplicas: 2, currentReplicas: 2 })
  })
)

Stand.scenario(
  "scaling goes before updating",
  Effect.gen(function* () {
    yield* Stand.running()
    yield* Stand.change({ replicas: 5, template: { spec: Stand.podSpec("web:2") } })
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:1", "web:2"])
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "uuuuu")
    yield* Stand.change({ replicas: 1, template: { spec: Stand.podSpec("web:3") } })
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:3"])
  })
)

Stand.scenario(
  "the history keeps what is in use and as much more as it may",
  Effect.gen(function* () {
    yield* Stand.running(Stand.statefulSet({ replicas: 1, revisionHistoryLimit: 2 }))
    for (const number of [2, 3, 4, 5]) {
      yield* Stand.useImage(`web:${number}`)
      yield* Stand.advance("30 seconds")
    }
    const kept = yield* Stand.revisions
    assert.deepStrictEqual(
      kept.map(({ revision }) => revision),
      [3, 4, 5]
    )
    yield* Stand.change({ revisionHistoryLimit: 0 })
    assert.lengthOf(yield* Stand.revisions, 1)
    const [last] = kept.slice(-1)
    assert.match(last?.metadata.name ?? "", /^web-[bcdfghjklmnpqrstvwxz2456789]{8,10}$/)
    assert.strictEqual(`web-${last?.metadata.labels?.["controller.kubernetes.io/hash"]}`, last?.metadata.name)
    assert.deepInclude(last?.metadata.labels, Stand.labels)
    assert.deepInclude(last?.metadata.ownerReferences?.[0], { kind: "StatefulSet", name: "web", controller: true })
  })
)

Stand.scenario(
  "comes back to what a revision keeps, when somebody applies it",
  Effect.gen(function* () {
    yield* Stand.running()
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    const [first] = yield* Stand.revisions
    const client = yield* KubeClient
    yield* client.patch(
      Stand.StatefulSet,
      { namespace: "default", name: "web" },
      Patch.strategic(first?.data as object)
    )
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.images, ["web:1", "web:1", "web:1"])
    assert.strictEqual((yield* Stand.status).currentRevision, first?.metadata.name)
    assert.deepStrictEqual(
      (yield* Stand.revisions).map(({ revision }) => revision),
      [2, 3]
    )
  })
)

Stand.scenario(
  "makes the present revision again when somebody deletes it, and touches no pod",
  Effect.gen(function* () {
    yield* Stand.running()
    const { currentRevision } = yield* Stand.status
    const uids = (yield* Stand.pods).map(({ metadata }) => metadata.uid)
    yield* Stand.remove(Stand.ControllerRevision, currentRevision)
    yield* Stand.advance("1 minute")
    const [again] = yield* Stand.revisions
    assert.strictEqual(again?.metadata.name, currentRevision)
    assert.deepStrictEqual(
      (yield* Stand.pods).map(({ metadata }) => metadata.uid),
      uids
    )
  })
)

Stand.without(
  "a name that a revision of another template has taken is passed over, and counted",
  Effect.gen(function* () {
    yield* Stand.start
    yield* Stand.running(Stand.statefulSet({ replicas: 1 }))
    const { currentRevision } = yield* Stand.status
    yield* Stand.remove(Stand.StatefulSet, "web", { propagationPolicy: "Background" })
    yield* Stand.remove(Stand.Pod, "web-0")
    yield* Stand.remove(Stand.ControllerRevision, currentRevision)
    yield* Stand.create(Stand.ControllerRevision, {
      metadata: { name: currentRevision, namespace: "default" },
      data: {},
      revision: 1
    })
    yield* Stand.advance("1 minute")
    yield* Stand.running(Stand.statefulSet({ replicas: 1 }))
    const status = yield* Stand.status
    assert.deepInclude(status, { collisionCount: 1, readyReplicas: 1 })
    assert.notStrictEqual(status.currentRevision, currentRevision)
    yield* Stand.patch(Stand.StatefulSet, "web", { metadata: { annotations: { note: "seen" } } })
    assert.strictEqual((yield* Stand.status).currentRevision, status.currentRevision)
    assert.lengthOf(yield* Stand.revisions, 2)
  })
)

Stand.scenario(
  "takes in revisions without an owner",
  Effect.gen(function* () {
    yield* Stand.create(Stand.ControllerRevision, {
      metadata: { name: "found", namespace: "default", labels: Stand.labels },
      data: {},
      revision: 7
    })
    yield* Stand.running(Stand.statefulSet({ replicas: 1 }))
    const [found, made] = yield* Stand.revisions
    assert.strictEqual(found?.metadata.ownerReferences?.[0]?.name, "web")
    assert.strictEqual(made?.revision, 8)
  })
)

/** As a server wrote them that did not know all of today's defaults, and as another writer spells them. */
const template = {
  spec: { containers: [{ name: "main", image: "web:1", imagePullPolicy: "IfNotPresent", resources: {} }] }
}

Stand.scenario(
  "knows its pods' revision although a server has learnt new defaults since",
  Effect.gen(function* () {
    const metadata = { labels: Stand.labels, creationTimestamp: null }
    yield* Stand.create(Stand.ControllerRevision, {
      metadata: { name: "web-before", namespace: "default", labels: Stand.labels },
      data: { spec: { template: { $patch: "replace", metadata, ...template } } },
      revision: 1
    })
    yield* Stand.running()
    assert.deepInclude(yield* Stand.status, { currentRevision: "web-before", updateRevision: "web-before" })
    assert.lengthOf(yield* Stand.revisions, 1)
    yield* Stand.useImage("web:2")
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(
      (yield* Stand.revisions).map(({ revision }) => revision),
      [1, 2]
    )
  })
)

Stand.without(
  "replaces as many at a time as may be unavailable, where that is switched on",
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(StatefulSetController.make({ maxUnavailable: true }))
    const spec = { replicas: 5, podManagementPolicy: "Parallel", ...rolling({ maxUnavailable: "50%" }) }
    yield* Stand.running(Stand.statefulSet(spec))
    yield* Stand.useImage("web:2")
    assert.deepStrictEqual(yield* Stand.living, ["web-0", "web-1", "web-2"])
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "uuuuu")
    yield* Stand.unready("web-1")
    yield* Stand.useImage("web:3")
    assert.deepStrictEqual(yield* Stand.living, ["web-0", "web-1", "web-2", "web-3"])
  })
)

Stand.scenario(
  "replaces one at a time however many may be unavailable, where that is not switched on",
  Effect.gen(function* () {
    const spec = { replicas: 4, podManagementPolicy: "Parallel", ...rolling({ maxUnavailable: 2 }) }
    yield* Stand.running(Stand.statefulSet(spec))
    yield* Stand.useImage("web:2")
    assert.deepStrictEqual(yield* Stand.living, ["web-0", "web-1", "web-2"])
  })
)

Stand.scenario(
  "goes on when the pod that it wants to replace is gone already",
  Effect.gen(function* () {
    yield* Stand.running()
    const gone = Stand.refusing("delete", "pods", 1, 404)
    yield* (yield* ApiServer).setFaults([gone])
    yield* Stand.useImage("web:2")
    yield* Stand.unready("web-0")
    yield* Stand.unready("web-0", false)
    yield* Stand.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    assert.notInclude((yield* Stand.events).join("\n"), "FailedDelete")
  })
)

const init = { name: "init", image: "init:1" }
const probe = { tcpSocket: { port: 80 } }

/** A value that is a default at another path. */
const changes = {
  "restartPolicy: Always of an init container": [
    Stand.podSpec("web:1", {}, { initContainers: [init] }),
    Stand.podSpec("web:1", {}, { initContainers: [{ ...init, restartPolicy: "Always" }] })
  ],
  "terminationGracePeriodSeconds: 30 of a probe": [
    Stand.podSpec("web:1", { livenessProbe: probe }),
    Stand.podSpec("web:1", { livenessProbe: { ...probe, terminationGracePeriodSeconds: 30 } })
  ],
  "securityContext: {} of a container": [Stand.podSpec(), Stand.podSpec("web:1", { securityContext: {} })]
}

for (const [title, [before, after]] of Object.entries(changes)) {
  Stand.scenario(
    `rolls out a template whose only change is ${title}`,
    Effect.gen(function* () {
      yield* Stand.running(Stand.statefulSet({ template: { metadata: { labels: Stand.labels }, spec: before } }))
      const { updateRevision } = yield* Stand.status
      yield* Stand.change({ template: { spec: after } })
      assert.notStrictEqual((yield* Stand.status).updateRevision, updateRevision)
      assert.lengthOf(yield* Stand.revisions, 2)
    })
  )
}
