/**
 * The cases for Deployments from Kubernetes' suites: test/e2e/apps/deployment.go, test/integration/deployment. Proportional scaling is in
 * controllers/deployment/twenty.test.ts.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Deployment, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const revision = "deployment.kubernetes.io/revision"

const replicaSet = (name: string, labels: Readonly<Record<string, string>>, more: object = {}) => ({
  metadata: { name, labels, ...more },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: Harness.template(labels, "httpd:2") }
})

const deployment = (name: string, labels: Readonly<Record<string, string>>, spec: object = {}, more: object = {}) => ({
  metadata: { name, labels, ...more },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: Harness.template(labels, "agnhost:1"), ...spec }
})

const labels = { name: "sample" }

/** Waits until the Deployment is rolled out completely, and its status says so. */
const complete = (name: string) =>
  Harness.until(
    Effect.map(Harness.get(Deployment, name), (found) => {
      const { metadata, spec, status } = found
      const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas]
      assert.deepStrictEqual(counts, [spec?.replicas, spec?.replicas, spec?.replicas])
      assert.deepStrictEqual(
        [status?.observedGeneration, status?.unavailableReplicas],
        [metadata.generation, undefined]
      )
      return found
    }),
    "5 minutes"
  )

const setsOf = (deployment: Deployment) =>
  Effect.map(Harness.list(ReplicaSet), (all) =>
    all.filter((set) => Harness.controllerOf(set)?.uid === deployment.metadata.uid)
  )

const imageOf = (found: Deployment | ReplicaSet | undefined) => found?.spec?.template?.spec?.containers[0]?.image

Harness.scenario(
  "a deleted Deployment takes its ReplicaSets and pods with it; its annotations were copied to them, except kubectl's",
  Effect.gen(function* () {
    const annotations = { test: "should-copy", "kubectl.kubernetes.io/last-applied-configuration": "{}" }
    yield* Harness.create(Deployment, deployment("web", labels, {}, { annotations }))
    const [set] = yield* setsOf(yield* complete("web"))
    assert.strictEqual(set?.metadata.annotations?.["test"], "should-copy")
    assert.notProperty(set?.metadata.annotations, "kubectl.kubernetes.io/last-applied-configuration")
    yield* Harness.remove(Deployment, "web", { propagationPolicy: "Background" })
    yield* Harness.gone(Deployment, "web")
    yield* Harness.until(
      Effect.gen(function* () {
        assert.isEmpty([...(yield* Harness.list(ReplicaSet)), ...(yield* Harness.list(Pod))])
      })
    )
  })
)

Harness.scenario(
  "a Deployment adopts a ReplicaSet and continues from its revision, however large",
  Effect.gen(function* () {
    const annotations = { [revision]: "3546343826724305832" }
    yield* Harness.create(ReplicaSet, replicaSet("old", { ...labels, pod: "httpd" }, { annotations }))
    yield* Harness.running("name=sample", 1)
    yield* Harness.create(Deployment, deployment("web", labels))
    const done = yield* complete("web")
    assert.strictEqual(done.metadata.annotations?.[revision], "3546343826724305833")
    const sets = yield* setsOf(done)
    const fresh = sets.find(({ metadata }) => metadata.annotations?.[revision] === "3546343826724305833")
    assert.strictEqual(imageOf(fresh), "agnhost:1")
    assert.sameMembers(
      sets.map(({ metadata }) => metadata.name),
      ["old", fresh?.metadata.name ?? ""]
    )
  })
)

Harness.scenario(
  "a Deployment with Recreate never reports new pods beside old ones",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("web", labels, { strategy: { type: "Recreate" } }))
    yield* complete("web")
    const seen = yield* Harness.watched(Deployment)
    yield* Harness.strategic(Deployment, "web", {
      spec: { template: { spec: { containers: [{ $patch: "replace" }, { name: "other", image: "httpd:2" }] } } }
    })
    assert.strictEqual(imageOf(yield* complete("web")), "httpd:2")
    assert.isNotEmpty(seen)
    for (const { status } of seen) {
      if ((status?.updatedReplicas ?? 0) > 0) assert.strictEqual(status?.replicas, status?.updatedReplicas)
    }
  })
)

Harness.scenario(
  "a Deployment creates one pod when it takes over a ReplicaSet, and keeps no history with a limit of 0",
  Effect.gen(function* () {
    yield* Harness.create(ReplicaSet, replicaSet("old", { ...labels, pod: "httpd" }))
    yield* Harness.running("name=sample", 1)
    const before = new Set((yield* Harness.list(Pod)).map(({ metadata }) => metadata.uid))
    const seen = yield* Harness.watched(Pod)
    yield* Harness.create(Deployment, deployment("web", labels, { revisionHistoryLimit: 0 }))
    yield* complete("web")
    yield* Harness.until(
      Effect.map(Effect.flatMap(Harness.get(Deployment, "web"), setsOf), (sets) => assert.strictEqual(sets.length, 1))
    )
    const made = new Set(seen.map(({ metadata }) => metadata.uid).filter((uid) => !before.has(uid)))
    assert.strictEqual(made.size, 1)
  })
)

Harness.scenario(
  "a Deployment replaces a rollout that does not complete by the next one",
  Effect.gen(function* () {
    yield* Harness.create(ReplicaSet, replicaSet("old", { ...labels, pod: "httpd" }))
    yield* Harness.running("name=sample", 1)
    const strategy = { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    const template = Harness.template(labels, "redis:404")
    yield* Harness.create(Deployment, deployment("web", labels, { strategy, template, minReadySeconds: 10 }))
    const stuck = yield* Harness.until(
      Effect.gen(function* () {
        const found = yield* Harness.get(Deployment, "web")
        assert.isAtLeast(found.status?.updatedReplicas ?? 0, 1)
        assert.strictEqual(found.metadata.annotations?.[revision], "1")
        const sets = yield* setsOf(found)
        assert.deepStrictEqual(
          sets.map(({ spec, status }) => [spec?.replicas, status?.replicas]),
          [
            [1, 1],
            [1, 1]
          ]
        )
        return sets.map(({ metadata }) => metadata.name)
      })
    )
    yield* Harness.patch(Deployment, "web", { spec: { template: { spec: Harness.spec("agnhost:1") } } })
    const done = yield* complete("web")
    assert.deepStrictEqual([done.metadata.annotations?.[revision], imageOf(done)], ["2", "agnhost:1"])
    for (const name of stuck) {
      const { spec, status } = yield* Harness.get(ReplicaSet, name)
      assert.deepStrictEqual([spec?.replicas, status?.replicas], [0, 0])
    }
  })
)

Harness.scenario(
  "the ReplicaSet of an orphaned Deployment is adopted by a Deployment with the same selector, which creates none",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("first", labels))
    const [set] = yield* setsOf(yield* complete("first"))
    yield* Harness.remove(Deployment, "first", { propagationPolicy: "Orphan" })
    yield* Harness.until(
      Effect.map(Harness.list(ReplicaSet), (all) => assert.deepStrictEqual(all.map(Harness.controllerOf), [undefined]))
    )
    yield* Harness.create(Deployment, deployment("second", labels))
    const sets = yield* setsOf(yield* complete("second"))
    assert.deepStrictEqual(
      sets.map(({ metadata }) => metadata.uid),
      [set?.metadata.uid]
    )
    assert.strictEqual((yield* Harness.list(ReplicaSet)).length, 1)
  })
)

Harness.scenario(
  "a Deployment is scaled by patches of its scale subresource",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("web", labels))
    yield* complete("web")
    yield* Harness.patch(Deployment, "web", { spec: { replicas: 2 } }, "scale")
    assert.strictEqual((yield* complete("web")).status?.replicas, 2)
    yield* Harness.strategic(Deployment, "web", { spec: { replicas: 4 } }, "scale")
    assert.strictEqual((yield* complete("web")).status?.replicas, 4)
  })
)

Harness.scenario(
  "a Deployment can be patched, updated without the loop's annotations, given a wrong status, and deleted with its collection",
  Effect.gen(function* () {
    const fixed = { ...labels, "test-deployment-static": "true" }
    const first = yield* Harness.create(Deployment, deployment("web", labels, { replicas: 2 }, { labels: fixed }))
    yield* complete("web")
    const containers = [{ name: "main", image: "pause:3" }]
    yield* Harness.strategic(Deployment, "web", {
      metadata: { labels: { "test-deployment": "patched" } },
      spec: { replicas: 1, template: { spec: { terminationGracePeriodSeconds: 2, containers } } }
    })
    assert.strictEqual(imageOf(yield* complete("web")), "pause:3")
    // The object as it was created, with another image: without the loop's annotations, and with an old resourceVersion.
    const { metadata, spec } = first
    const replaced = {
      metadata: { name: "web", namespace: metadata.namespace, labels: { ...fixed, "test-deployment": "updated" } },
      spec: { ...spec, template: Harness.template(labels, "httpd:2") }
    }
    yield* Harness.update(Deployment, "web", () => replaced)
    const done = yield* complete("web")
    assert.deepStrictEqual([done.metadata.annotations?.[revision], imageOf(done)], ["3", "httpd:2"])
    yield* Harness.strategic(Deployment, "web", { status: { readyReplicas: 0, availableReplicas: 0 } }, "status")
    assert.strictEqual((yield* complete("web")).status?.readyReplicas, 2)
    yield* Harness.removeAll(Deployment, "test-deployment-static=true", { gracePeriodSeconds: 1 })
    yield* Harness.gone(Deployment, "web")
  })
)

Harness.scenario(
  "a Deployment keeps conditions that other clients add, including ones that have only a type",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("web", labels))
    yield* complete("web")
    const added = { type: "StatusUpdate", status: "True", reason: "E2E", message: "Set from e2e test" }
    yield* Harness.update(
      Deployment,
      "web",
      (found) => ({ ...found, status: { ...found.status, conditions: [...(found.status?.conditions ?? []), added] } }),
      "status"
    )
    yield* Harness.advance("10 seconds")
    const types = Effect.map(Harness.get(Deployment, "web"), ({ status }) =>
      status?.conditions?.map(({ type }) => type)
    )
    assert.sameMembers([...((yield* types) ?? [])], ["Available", "Progressing", "StatusUpdate"])
    const bare = { status: { conditions: [{ type: "StatusPatched", status: "True" }] } }
    yield* Harness.patch(Deployment, "web", bare, "status")
    yield* Harness.advance("10 seconds")
    assert.sameMembers([...((yield* types) ?? [])], ["Available", "Progressing", "StatusPatched"])
    yield* Harness.patch(Deployment, "web", { spec: { template: { spec: Harness.spec("httpd:2") } } })
    assert.strictEqual(imageOf(yield* complete("web")), "httpd:2")
  })
)

Harness.scenario(
  "two Deployments with the same selector share no pods",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("first", labels))
    yield* Harness.create(Deployment, deployment("second", labels))
    const [first, second] = [yield* complete("first"), yield* complete("second")]
    assert.deepStrictEqual([(yield* setsOf(first)).length, (yield* setsOf(second)).length], [1, 1])
    yield* Harness.patch(Deployment, "first", { spec: { replicas: 2 } })
    yield* complete("first")
    yield* complete("second")
    assert.strictEqual((yield* Harness.livingPods()).length, 3)
  })
)

Harness.scenario(
  "a paused Deployment is scaled, and rolls out when it is resumed",
  Effect.gen(function* () {
    yield* Harness.create(Deployment, deployment("web", labels))
    yield* complete("web")
    yield* Harness.patch(Deployment, "web", { spec: { paused: true, replicas: 2 } })
    yield* complete("web")
    yield* Harness.patch(Deployment, "web", { spec: { template: { spec: Harness.spec("httpd:2") } } })
    yield* Harness.advance("30 seconds")
    assert.strictEqual((yield* setsOf(yield* Harness.get(Deployment, "web"))).length, 1)
    yield* Harness.patch(Deployment, "web", { spec: { paused: false } })
    assert.strictEqual((yield* complete("web")).metadata.annotations?.[revision], "2")
  })
)
