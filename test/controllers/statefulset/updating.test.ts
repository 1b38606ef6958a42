/** Updates and rollbacks of a StatefulSet, from the highest ordinal to the lowest. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import * as Harness from "./harness.ts"

const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } })

/** The revision of each pod: `u` for the update revision, `c` for the current one, `?` for any other. */
const letters = Effect.gen(function* () {
  const { currentRevision, updateRevision } = yield* Harness.status
  return (yield* Harness.pods)
    .map(Harness.revisionOf)
    .map((revision) => (revision === updateRevision ? "u" : revision === currentRevision ? "c" : "?"))
    .join("")
})

/** All observed states of the pods, in order, without repetitions. */
const watched = (seconds: number) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    for (let i = 0; i < seconds * 4; i++) {
      yield* Harness.advance("250 millis")
      const state = (yield* Harness.pods)
        .map((pod) => `${pod.metadata.name}${pod.metadata.deletionTimestamp === undefined ? "" : "!"}`)
        .join(" ")
      if (seen.at(-1) !== state) seen.push(state)
    }
    return seen
  })

Harness.scenario(
  "replaces one pod after the other, from the last to the first",
  Effect.gen(function* () {
    yield* Harness.running()
    const before = (yield* Harness.status).currentRevision
    yield* Harness.useImage("web:2")
    const during = yield* Harness.status
    assert.strictEqual(during.currentRevision, before)
    assert.notStrictEqual(during.updateRevision, before)
    assert.deepInclude(during, { replicas: 3, currentReplicas: 2, observedGeneration: 2 })
    const seen = yield* watched(20)
    const going = seen.filter((state) => state.includes("!"))
    assert.deepStrictEqual(going, ["web-0 web-1 web-2!", "web-0 web-1! web-2", "web-0! web-1 web-2"])
    assert.deepStrictEqual(yield* Harness.images, ["web:2", "web:2", "web:2"])
    const after = yield* Harness.status
    assert.strictEqual(after.currentRevision, during.updateRevision)
    assert.deepInclude(after, { currentReplicas: 3, updatedReplicas: 3, updateRevision: during.updateRevision })
  })
)

Harness.scenario(
  "stops at a pod that does not become ready, rolls back, and reuses the revision",
  Effect.gen(function* () {
    yield* Harness.running()
    const first = (yield* Harness.status).currentRevision
    yield* Harness.unready("web-1")
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "ccc")
    yield* Harness.unready("web-1", false)
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    const second = (yield* Harness.status).currentRevision
    yield* Harness.unready("web-1")
    yield* Harness.useImage("web:1")
    const back = yield* Harness.status
    assert.deepInclude(back, { currentRevision: second, updateRevision: first })
    yield* Harness.unready("web-1", false)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:1"])
    assert.deepInclude(yield* Harness.status, { currentRevision: first, updateRevision: first })
    const revisions = yield* Harness.revisions
    assert.deepStrictEqual(
      revisions.map(({ metadata, revision }) => `${metadata.name} ${revision}`),
      [`${second} 2`, `${first} 3`]
    )
  })
)

Harness.scenario(
  "an ordered set with a broken template waits until a user deletes the broken pod",
  Effect.gen(function* () {
    yield* Harness.running()
    yield* Harness.useImage("web:404")
    yield* Harness.advance("2 minutes")
    assert.strictEqual(yield* letters, "ccu")
    yield* Harness.useImage("web:1")
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:404"])
    yield* Harness.remove(Harness.Pod, "web-2")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:1"])
  })
)

Harness.scenario(
  "a parallel set rolls back from a broken template",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ podManagementPolicy: "Parallel" }))
    yield* Harness.useImage("web:404")
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "ccu")
    yield* Harness.useImage("web:1")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:1"])
    assert.strictEqual(yield* letters, "uuu")
  })
)

Harness.scenario(
  "a partition keeps the first pods, restores their revision, and can be lowered step by step",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet(rolling({ partition: 3 })))
    const first = (yield* Harness.status).currentRevision
    yield* Harness.useImage("web:2")
    yield* Harness.advance("30 seconds")
    assert.strictEqual(yield* letters, "ccc")
    const { currentRevision, updateRevision } = yield* Harness.status
    assert.strictEqual(currentRevision, first)
    assert.notStrictEqual(updateRevision, first)
    yield* Harness.change(rolling({ partition: 2 }))
    yield* Harness.advance("30 seconds")
    assert.strictEqual(yield* letters, "ccu")
    yield* Harness.remove(Harness.Pod, "web-0")
    yield* Harness.remove(Harness.Pod, "web-2")
    yield* Harness.advance("30 seconds")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:2"])
    assert.strictEqual(yield* letters, "ccu")
    for (const [partition, expected] of [
      [1, "cuu"],
      [0, "uuu"]
    ] as const) {
      yield* Harness.change(rolling({ partition }))
      yield* Harness.advance("30 seconds")
      assert.strictEqual(yield* letters, expected)
    }
    assert.deepInclude(yield* Harness.status, { currentRevision: updateRevision, updateRevision, currentReplicas: 3 })
  })
)

Harness.scenario(
  "a partition counts replicas from the first ordinal",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ ordinals: { start: 5 }, ...rolling({ partition: 2 }) }))
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-5", "web-6", "web-7"])
    assert.strictEqual(yield* letters, "ccu")
    yield* Harness.remove(Harness.Pod, "web-6")
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "ccu")
  })
)

Harness.scenario(
  "a pod below the partition with a finalizer keeps its revision when it is recreated",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet(rolling({ partition: 1 })))
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { finalizers: ["example.test/held"] } })
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { replicas: 3, readyReplicas: 3, updatedReplicas: 2 })
    yield* Harness.remove(Harness.Pod, "web-0")
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { replicas: 3, readyReplicas: 2, updatedReplicas: 2, currentReplicas: 0 })
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { finalizers: null } })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:2", "web:2"])
    assert.strictEqual(yield* letters, "cuu")
  })
)

Harness.scenario(
  "with OnDelete replaces only pods that users delete",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ updateStrategy: { type: "OnDelete" } }))
    yield* Harness.remove(Harness.Pod, "web-1")
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "ccc")
    const { currentRevision, updateRevision } = yield* Harness.status
    assert.notStrictEqual(currentRevision, updateRevision)
    for (const name of ["web-0", "web-1", "web-2"]) yield* Harness.remove(Harness.Pod, name)
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.images, ["web:2", "web:2", "web:2"])
    assert.strictEqual(yield* letters, "uuu")
    // The status does not report the rollout as complete.
    assert.deepInclude(yield* Harness.status, {
      currentRevision,
      updateRevision,
      updatedReplicas: 3,
      currentReplicas: 0
    })
  })
)

Harness.scenario(
  "waits minReadySeconds before it replaces the next pod",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 2, minReadySeconds: 20 }))
    yield* Harness.advance("1 minute")
    yield* Harness.useImage("web:2")
    yield* Harness.advance("15 seconds")
    assert.strictEqual(yield* letters, "cu")
    yield* Harness.advance("30 seconds")
    assert.strictEqual(yield* letters, "uu")
    yield* Harness.advance("30 seconds")
    assert.deepInclude(yield* Harness.status, { availableReplicas: 2, currentReplicas: 2 })
  })
)

Harness.scenario(
  "scales before it updates",
  Effect.gen(function* () {
    yield* Harness.running()
    yield* Harness.change({ replicas: 5, template: { spec: Harness.podSpec("web:2") } })
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:1", "web:2"])
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "uuuuu")
    yield* Harness.change({ replicas: 1, template: { spec: Harness.podSpec("web:3") } })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:3"])
  })
)

Harness.scenario(
  "the history keeps used revisions and revisionHistoryLimit others",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 1, revisionHistoryLimit: 2 }))
    for (const number of [2, 3, 4, 5]) {
      yield* Harness.useImage(`web:${number}`)
      yield* Harness.advance("30 seconds")
    }
    const kept = yield* Harness.revisions
    assert.deepStrictEqual(
      kept.map(({ revision }) => revision),
      [3, 4, 5]
    )
    yield* Harness.change({ revisionHistoryLimit: 0 })
    assert.lengthOf(yield* Harness.revisions, 1)
    const [last] = kept.slice(-1)
    assert.match(last?.metadata.name ?? "", /^web-[bcdfghjklmnpqrstvwxz2456789]{8,10}$/)
    assert.strictEqual(`web-${last?.metadata.labels?.["controller.kubernetes.io/hash"]}`, last?.metadata.name)
    assert.deepInclude(last?.metadata.labels, Harness.labels)
    assert.deepInclude(last?.metadata.ownerReferences?.[0], { kind: "StatefulSet", name: "web", controller: true })
  })
)

Harness.scenario(
  "rolls back when a user applies the data of a revision",
  Effect.gen(function* () {
    yield* Harness.running()
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    const [first] = yield* Harness.revisions
    const client = yield* KubeClient
    yield* client.patch(
      Harness.StatefulSet,
      { namespace: "default", name: "web" },
      Patch.strategic(first?.data as object)
    )
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.images, ["web:1", "web:1", "web:1"])
    assert.strictEqual((yield* Harness.status).currentRevision, first?.metadata.name)
    assert.deepStrictEqual(
      (yield* Harness.revisions).map(({ revision }) => revision),
      [2, 3]
    )
  })
)

Harness.scenario(
  "recreates the present revision when a user deletes it, and changes no pod",
  Effect.gen(function* () {
    yield* Harness.running()
    const { currentRevision } = yield* Harness.status
    const uids = (yield* Harness.pods).map(({ metadata }) => metadata.uid)
    yield* Harness.remove(Harness.ControllerRevision, currentRevision)
    yield* Harness.advance("1 minute")
    const [again] = yield* Harness.revisions
    assert.strictEqual(again?.metadata.name, currentRevision)
    assert.deepStrictEqual(
      (yield* Harness.pods).map(({ metadata }) => metadata.uid),
      uids
    )
  })
)

Harness.without(
  "a revision name that another template has taken is a collision: the next name is used, and collisionCount is raised",
  Effect.gen(function* () {
    yield* Harness.start
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const { currentRevision } = yield* Harness.status
    yield* Harness.remove(Harness.StatefulSet, "web", { propagationPolicy: "Background" })
    yield* Harness.remove(Harness.Pod, "web-0")
    yield* Harness.remove(Harness.ControllerRevision, currentRevision)
    yield* Harness.create(Harness.ControllerRevision, {
      metadata: { name: currentRevision, namespace: "default" },
      data: {},
      revision: 1
    })
    yield* Harness.advance("1 minute")
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const status = yield* Harness.status
    assert.deepInclude(status, { collisionCount: 1, readyReplicas: 1 })
    assert.notStrictEqual(status.currentRevision, currentRevision)
    yield* Harness.patch(Harness.StatefulSet, "web", { metadata: { annotations: { note: "seen" } } })
    assert.strictEqual((yield* Harness.status).currentRevision, status.currentRevision)
    assert.lengthOf(yield* Harness.revisions, 2)
  })
)

Harness.scenario(
  "adopts revisions without an owner",
  Effect.gen(function* () {
    yield* Harness.create(Harness.ControllerRevision, {
      metadata: { name: "found", namespace: "default", labels: Harness.labels },
      data: {},
      revision: 7
    })
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const [found, made] = yield* Harness.revisions
    assert.strictEqual(found?.metadata.ownerReferences?.[0]?.name, "web")
    assert.strictEqual(made?.revision, 8)
  })
)

/** Revision data from a server with fewer defaults, and in the spelling of another client. */
const template = {
  spec: { containers: [{ name: "main", image: "web:1", imagePullPolicy: "IfNotPresent", resources: {} }] }
}

Harness.scenario(
  "replaces no pod when a newer server sets new defaults in the template",
  Effect.gen(function* () {
    const metadata = { labels: Harness.labels, creationTimestamp: null }
    yield* Harness.create(Harness.ControllerRevision, {
      metadata: { name: "web-before", namespace: "default", labels: Harness.labels },
      data: { spec: { template: { $patch: "replace", metadata, ...template } } },
      revision: 1
    })
    yield* Harness.running()
    assert.deepInclude(yield* Harness.status, { currentRevision: "web-before", updateRevision: "web-before" })
    assert.lengthOf(yield* Harness.revisions, 1)
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(
      (yield* Harness.revisions).map(({ revision }) => revision),
      [1, 2]
    )
  })
)

Harness.without(
  "replaces maxUnavailable pods at a time with the feature gate",
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(StatefulSetController.make({ maxUnavailable: true }))
    const spec = { replicas: 5, podManagementPolicy: "Parallel", ...rolling({ maxUnavailable: "50%" }) }
    yield* Harness.running(Harness.statefulSet(spec))
    yield* Harness.useImage("web:2")
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1", "web-2"])
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "uuuuu")
    yield* Harness.unready("web-1")
    yield* Harness.useImage("web:3")
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1", "web-2", "web-3"])
  })
)

Harness.scenario(
  "replaces one pod at a time without the feature gate",
  Effect.gen(function* () {
    const spec = { replicas: 4, podManagementPolicy: "Parallel", ...rolling({ maxUnavailable: 2 }) }
    yield* Harness.running(Harness.statefulSet(spec))
    yield* Harness.useImage("web:2")
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1", "web-2"])
  })
)

Harness.scenario(
  "continues when the pod to replace is already deleted",
  Effect.gen(function* () {
    yield* Harness.running()
    const gone = Harness.refusing("delete", "pods", 1, 404)
    yield* (yield* ApiServer).setFaults([gone])
    yield* Harness.useImage("web:2")
    yield* Harness.unready("web-0")
    yield* Harness.unready("web-0", false)
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* letters, "uuu")
    assert.notInclude((yield* Harness.events).join("\n"), "FailedDelete")
  })
)

const init = { name: "init", image: "init:1" }
const probe = { tcpSocket: { port: 80 } }

/** A value that is a default at another path. */
const changes = {
  "restartPolicy: Always of an init container": [
    Harness.podSpec("web:1", {}, { initContainers: [init] }),
    Harness.podSpec("web:1", {}, { initContainers: [{ ...init, restartPolicy: "Always" }] })
  ],
  "terminationGracePeriodSeconds: 30 of a probe": [
    Harness.podSpec("web:1", { livenessProbe: probe }),
    Harness.podSpec("web:1", { livenessProbe: { ...probe, terminationGracePeriodSeconds: 30 } })
  ],
  "securityContext: {} of a container": [Harness.podSpec(), Harness.podSpec("web:1", { securityContext: {} })]
}

for (const [title, [before, after]] of Object.entries(changes)) {
  Harness.scenario(
    `rolls out a template whose only change is ${title}`,
    Effect.gen(function* () {
      yield* Harness.running(Harness.statefulSet({ template: { metadata: { labels: Harness.labels }, spec: before } }))
      const { updateRevision } = yield* Harness.status
      yield* Harness.change({ template: { spec: after } })
      assert.notStrictEqual((yield* Harness.status).updateRevision, updateRevision)
      assert.lengthOf(yield* Harness.revisions, 2)
    })
  )
}
