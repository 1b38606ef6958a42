/** StatefulSets on simulated nodes: the identity of pods, the order of creations and deletions, and the status. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { logged } from "../support/logged.ts"
import * as Harness from "./statefulset/harness.ts"

const created = (ordinal: number) => `Normal SuccessfulCreate Create Pod web-${ordinal} in StatefulSet web successful`

Harness.scenario(
  "creates its pods in order, with events, and writes nothing more",
  Effect.gen(function* () {
    const writes = yield* Harness.recording()
    yield* Harness.create(Harness.StatefulSet, Harness.statefulSet())
    assert.deepStrictEqual(yield* Harness.names, ["web-0"])
    const before = yield* Harness.status
    assert.deepInclude(before, { replicas: 1, availableReplicas: 0, currentReplicas: 1, updatedReplicas: 1 })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2"])
    const [revision] = yield* Harness.revisions
    const { name = "" } = revision?.metadata ?? {}
    assert.deepStrictEqual(yield* Harness.status, {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: name,
      updateRevision: name,
      collisionCount: 0
    })
    assert.deepStrictEqual(yield* Harness.events, [0, 1, 2].map(created))
    // One status for each created pod, and one when the last pod is ready.
    assert.lengthOf(
      writes.map(Harness.line).filter((line) => line.includes("/status web") && !line.includes("pods")),
      4
    )
    const calls = yield* Harness.recording()
    yield* Harness.patch(Harness.StatefulSet, "web", { metadata: { annotations: { note: "seen" } } })
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { annotations: { note: "seen" } } })
    yield* Harness.advance("10 minutes")
    assert.deepStrictEqual(calls.map(Harness.line), ["patch statefulsets.apps web", "patch pods web-1"])
  })
)

Harness.scenario(
  "gives each pod its name, its ordinal labels and its own claim",
  Effect.gen(function* () {
    const volumes = [
      { name: "data", emptyDir: {} },
      { name: "tmp", emptyDir: {} }
    ]
    const spec = { ...Harness.podSpec(), hostname: "other", volumes }
    const metadata = { labels: { ...Harness.labels, tier: "db" }, annotations: { a: "b" } }
    yield* Harness.running(Harness.withClaims({ replicas: 1, template: { metadata, spec } }))
    const pod = yield* Harness.pod("web-0")
    const [revision] = yield* Harness.revisions
    assert.deepStrictEqual(pod.metadata.labels, {
      app: "web",
      tier: "db",
      "apps.kubernetes.io/pod-index": "0",
      "controller-revision-hash": revision?.metadata.name ?? "",
      "statefulset.kubernetes.io/pod-name": "web-0"
    })
    assert.deepStrictEqual(pod.metadata.annotations, { a: "b" })
    assert.strictEqual(pod.metadata.generateName, "web-")
    const [owner] = pod.metadata.ownerReferences ?? []
    assert.deepInclude(owner, { kind: "StatefulSet", name: "web", controller: true, blockOwnerDeletion: true })
    assert.deepInclude(pod.spec, { hostname: "web-0", subdomain: "web" })
    const [data, tmp] = pod.spec?.volumes ?? []
    assert.deepStrictEqual(data, { name: "data", persistentVolumeClaim: { claimName: "data-web-0" } })
    assert.deepStrictEqual(tmp, { name: "tmp", emptyDir: {} })
  })
)

Harness.scenario(
  "creates all pods at once with podManagementPolicy Parallel",
  Effect.gen(function* () {
    yield* Harness.create(Harness.StatefulSet, Harness.statefulSet({ podManagementPolicy: "Parallel" }))
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2"])
    yield* Harness.advance("1 minute")
    yield* Harness.unready("web-0")
    yield* Harness.scale(5)
    assert.lengthOf(yield* Harness.names, 5)
    yield* Harness.scale(0)
    assert.deepStrictEqual(yield* Harness.living, [])
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { replicas: 0, readyReplicas: 0, observedGeneration: 3 })
  })
)

Harness.scenario(
  "does not scale while one of its pods is not ready",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    yield* Harness.unready("web-0")
    assert.deepInclude(yield* Harness.status, { replicas: 1, readyReplicas: 0 })
    yield* Harness.scale(3)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0"])
    yield* Harness.unready("web-0", false)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2"])
    for (const name of ["web-0", "web-1", "web-2"]) yield* Harness.unready(name)
    yield* Harness.scale(0)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1", "web-2"])
    yield* Harness.unready("web-2", false)
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1"])
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.living, ["web-0", "web-1"])
    yield* Harness.unready("web-1", false)
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.names, [])
    const gone = (yield* Harness.events).filter((event) => event.includes("SuccessfulDelete"))
    const text = (name: string) => `Normal SuccessfulDelete Delete Pod ${name} in StatefulSet web successful`
    assert.deepStrictEqual(gone, ["web-2", "web-1", "web-0"].map(text))
  })
)

Harness.scenario(
  "waits for the deletion of a terminating pod before it reuses its name",
  Effect.gen(function* () {
    yield* Harness.running()
    const uid = yield* Harness.uidOf("web-1")
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { finalizers: ["example.test/held"] } })
    yield* Harness.remove(Harness.Pod, "web-1")
    yield* Harness.scale(4)
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2"])
    assert.strictEqual(yield* Harness.uidOf("web-1"), uid)
    assert.deepInclude(yield* Harness.status, { replicas: 3, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2 })
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { finalizers: null } })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2", "web-3"])
    assert.notStrictEqual(yield* Harness.uidOf("web-1"), uid)
  })
)

for (const phase of ["Failed", "Succeeded"] as const) {
  Harness.scenario(
    `replaces a pod that has ended (${phase})`,
    Effect.gen(function* () {
      yield* Harness.running()
      const uid = yield* Harness.uidOf("web-1")
      if (phase === "Failed") yield* Harness.evict("web-1")
      else yield* Harness.patch(Harness.Pod, "web-1", { status: { phase } }, "status")
      yield* Harness.advance("1 minute")
      assert.notStrictEqual(yield* Harness.uidOf("web-1"), uid)
      assert.deepInclude(yield* Harness.status, { replicas: 3, readyReplicas: 3 })
      const events = yield* Harness.events
      assert.include(events, "Normal SuccessfulDelete Delete Pod web-1 in StatefulSet web successful")
    })
  )
}

Harness.scenario(
  "counts a pod as available only after minReadySeconds, and then creates the next one",
  Effect.gen(function* () {
    yield* Harness.create(Harness.StatefulSet, Harness.statefulSet({ replicas: 2, minReadySeconds: 30 }))
    yield* Harness.advance("20 seconds")
    assert.deepInclude(yield* Harness.status, { replicas: 1, readyReplicas: 1, availableReplicas: 0 })
    yield* Harness.advance("30 seconds")
    assert.deepInclude(yield* Harness.status, { replicas: 2, availableReplicas: 1 })
    yield* Harness.advance("40 seconds")
    assert.deepInclude(yield* Harness.status, { readyReplicas: 2, availableReplicas: 2 })
    yield* Harness.change({ minReadySeconds: 3600 })
    assert.deepInclude(yield* Harness.status, { readyReplicas: 2, availableReplicas: 0 })
    yield* Harness.change({ minReadySeconds: 0 })
    assert.deepInclude(yield* Harness.status, { readyReplicas: 2, availableReplicas: 2 })
  })
)

Harness.scenario(
  "moves to a new start ordinal, one pod at a time",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 2 }))
    yield* Harness.change({ replicas: 3, ordinals: { start: 2 } })
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.names, ["web-2", "web-3", "web-4"])
    yield* Harness.change({ replicas: 2, ordinals: { start: 3 } })
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.names, ["web-3", "web-4"])
    yield* Harness.change({ ordinals: null })
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1"])
    assert.deepInclude(yield* Harness.status, { replicas: 2, readyReplicas: 2, updatedReplicas: 2 })
  })
)

Harness.scenario(
  "adopts matching pods whose names are its own, and releases those that no longer match",
  Effect.gen(function* () {
    yield* Harness.create(Harness.Pod, {
      metadata: { name: "web-1", namespace: "default", labels: Harness.labels },
      spec: Harness.podSpec()
    })
    yield* Harness.create(Harness.Pod, {
      metadata: { name: "web-x", namespace: "default", labels: Harness.labels },
      spec: Harness.podSpec()
    })
    yield* Harness.running(Harness.statefulSet({ replicas: 2 }))
    const ownerOf = (name: string) =>
      Effect.map(Harness.pod(name), ({ metadata }) => metadata.ownerReferences?.[0]?.name)
    assert.strictEqual(yield* ownerOf("web-1"), "web")
    assert.isUndefined(yield* ownerOf("web-x"))
    // The adopted pod had no revision label, so it was replaced; its replacement has the right name label.
    assert.deepInclude((yield* Harness.pod("web-1")).metadata.labels, {
      "statefulset.kubernetes.io/pod-name": "web-1"
    })
    const uid = yield* Harness.uidOf("web-1")
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { labels: { app: "mine" } } })
    assert.isUndefined(yield* ownerOf("web-1"))
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* Harness.uidOf("web-1"), uid)
    assert.deepInclude(yield* Harness.status, { replicas: 1 })
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { labels: { app: "web" } } })
    yield* Harness.advance("1 minute")
    assert.strictEqual(yield* ownerOf("web-1"), "web")
    assert.strictEqual(yield* Harness.uidOf("web-1"), uid)
    assert.deepInclude(yield* Harness.status, { replicas: 2, readyReplicas: 2 })
  })
)

Harness.scenario(
  "restores the pod-name label",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const labels = { "statefulset.kubernetes.io/pod-name": null, "apps.kubernetes.io/pod-index": null }
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { labels } })
    assert.deepInclude((yield* Harness.pod("web-0")).metadata.labels, {
      "statefulset.kubernetes.io/pod-name": "web-0",
      "apps.kubernetes.io/pod-index": "0"
    })
    assert.include(yield* Harness.events, "Normal SuccessfulUpdate Update Pod web-0 in StatefulSet web successful")
  })
)

Harness.scenario(
  "records an event when a creation is rejected, and creates the pod when it is allowed",
  Effect.gen(function* () {
    const refuse = Harness.refusing("create", "pods", 2)
    yield* Harness.recording([refuse])
    yield* Harness.create(Harness.StatefulSet, Harness.statefulSet({ replicas: 1 }))
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0"])
    const [failed] = yield* Harness.events
    assert.match(failed ?? "", /^Warning FailedCreate Create Pod web-0 in StatefulSet web failed error: ./)
  })
)

Harness.scenario(
  "writes only the status of a set that is being deleted",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({}, { finalizers: ["example.test/held"] }))
    yield* Harness.remove(Harness.StatefulSet, "web")
    yield* Harness.remove(Harness.Pod, "web-1")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-2"])
    assert.deepInclude(yield* Harness.status, { replicas: 2, readyReplicas: 2 })
  })
)

Harness.scenario(
  "a new set of the same name starts when the pods of the former one are gone",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const uid = yield* Harness.uidOf("web-0")
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { finalizers: ["example.test/held"] } })
    yield* Harness.remove(Harness.StatefulSet, "web", { propagationPolicy: "Background" })
    yield* Harness.remove(Harness.Pod, "web-0")
    yield* Harness.create(Harness.StatefulSet, Harness.statefulSet({ replicas: 1 }))
    yield* Harness.advance("10 minutes")
    assert.strictEqual(yield* Harness.uidOf("web-0"), uid)
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { finalizers: null } })
    // The pod is created when its name is free, before the retry is due.
    yield* Harness.advance("2 seconds")
    assert.notStrictEqual(yield* Harness.uidOf("web-0"), uid)
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { readyReplicas: 1 })
  })
)

Harness.scenario(
  "keeps status fields of others, and supports the scale subresource",
  Effect.gen(function* () {
    yield* Harness.running(Harness.statefulSet({ replicas: 1 }))
    const conditions = [{ type: "StatusUpdate", status: "True", reason: "Test", message: "Set from a test" }]
    yield* Harness.patch(Harness.StatefulSet, "web", { status: { conditions } }, "status")
    yield* Harness.patch(Harness.StatefulSet, "web", { spec: { replicas: 2 } }, "scale")
    yield* Harness.advance("1 minute")
    const status = yield* Harness.status
    assert.deepInclude(status, { replicas: 2, observedGeneration: 2 })
    assert.deepInclude(status?.conditions?.[0], { type: "StatusUpdate", reason: "Test" })
  })
)

Harness.scenario(
  "keeps its order while a pod crashes repeatedly",
  Effect.gen(function* () {
    yield* Harness.running()
    const machines = yield* Nodes.Nodes
    yield* machines.crash({ name: "web-0" })
    yield* Harness.scale(4)
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { replicas: 4, readyReplicas: 4 })
  })
)

it.effect("counts and logs its actions on replicas and what it waits for", () => {
  const { lines, logger } = logged()
  const body = Effect.gen(function* () {
    yield* Harness.start
    yield* Harness.running()
    yield* Harness.useImage("web:2")
    yield* Harness.advance("1 minute")
    const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
      id.startsWith("statefulset_controller_")
        ? `${id} ${Object.values(attributes ?? {}).join(" ")} ${(state as { count?: number }).count}`
        : []
    )
    assert.includeMembers(counted, [
      "statefulset_controller_pods_total create missing 6",
      "statefulset_controller_pods_total delete outdated 3"
    ])
    assert.match(counted.join("\n"), /statefulset_controller_waits_total unready \d+/)
    assert.isAtLeast(lines(/^statefulset: Applied a step to replicas/).length, 9)
  })
  return body.pipe(
    Effect.scoped,
    Effect.provide(ClusterTest.layer({ nodes: 3 })),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provideService(References.MinimumLogLevel, "Debug"),
    Effect.provide(logger)
  )
})
