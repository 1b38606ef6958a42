/**
 * The cases for DaemonSets from Kubernetes' suites: test/e2e/apps/daemon_set.go, test/integration/daemonset. Surges with injected faults are in
 * controllers/daemonset/updating.test.ts.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ControllerRevision, DaemonSet, Node, Pod } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const labels = { daemon: "log" }
const hash = "controller-revision-hash"

const daemonSet = (spec: object = {}, more: object = {}) => ({
  metadata: { name: "log", labels, ...more },
  spec: { selector: { matchLabels: labels }, template: Harness.template(labels, "log:1"), ...spec }
})

const workers = ["worker-1", "worker-2"]

const daemons = Harness.livingPods("daemon=log")

/** Waits until each of these nodes has one ready pod of that image, and the status says so. */
const on = (nodes: ReadonlyArray<string>, image = "log:1") =>
  Harness.until(
    Effect.gen(function* () {
      const found = yield* daemons
      assert.isTrue(found.every(Harness.isReady))
      assert.sameMembers(
        found.map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`),
        nodes.map((node) => `${node} ${image}`)
      )
      const { metadata, status } = yield* Harness.get(DaemonSet, "log")
      const { currentNumberScheduled, desiredNumberScheduled, numberReady, observedGeneration } = status ?? {}
      assert.deepStrictEqual(
        [desiredNumberScheduled, currentNumberScheduled, numberReady, observedGeneration],
        [nodes.length, nodes.length, nodes.length, metadata.generation]
      )
    }),
    "5 minutes"
  )

/** Numbers and hashes of the revisions. Every revision has both. */
const history = Effect.map(Harness.list(ControllerRevision, "daemon=log"), (all) =>
  all.map(({ metadata, revision }) => [revision, metadata.labels?.[hash] ?? ""] as const).sort(([a], [b]) => a - b)
)

const hashes = Effect.map(daemons, (all) => new Set(all.map(({ metadata }) => metadata.labels?.[hash])))

const use = (image: string) =>
  Harness.strategic(DaemonSet, "log", { spec: { template: { spec: { containers: [{ name: "main", image }] } } } })

Harness.scenario(
  "a DaemonSet runs a pod on every node, and replaces a pod that is deleted or fails",
  Effect.gen(function* () {
    yield* Harness.create(DaemonSet, daemonSet())
    yield* on(workers)
    const [first] = yield* daemons
    yield* Harness.remove(Pod, first?.metadata.name ?? "")
    yield* Harness.gone(Pod, first?.metadata.name ?? "")
    yield* on(workers)
    const [second] = yield* daemons
    const { resourceVersion: _, ...metadata } = second?.metadata ?? { name: "" }
    yield* Harness.update(
      Pod,
      metadata.name,
      (pod) => ({ ...pod, metadata, status: { ...pod.status, phase: "Failed" } }),
      "status"
    )
    yield* Harness.gone(Pod, metadata.name)
    yield* on(workers)
  })
)

for (const [how, pinned] of [
  ["a selector", { nodeSelector: { color: "blue" } }],
  [
    "an affinity",
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "color", operator: "In", values: ["blue"] }] }]
          }
        }
      }
    }
  ]
] as const)
  Harness.scenario(
    `a DaemonSet with ${how} follows the labels of nodes`,
    Effect.gen(function* () {
      const template = Harness.template(labels, "log:1")
      yield* Harness.create(DaemonSet, daemonSet({ template: { ...template, spec: { ...template.spec, ...pinned } } }))
      yield* on([])
      yield* Harness.patch(Node, "worker-1", { metadata: { labels: { color: "blue" } } })
      yield* on(["worker-1"])
      yield* Harness.patch(Node, "worker-1", { metadata: { labels: { color: "green" } } })
      yield* on([])
      const spec = { nodeSelector: { color: "green" }, affinity: null }
      yield* Harness.patch(DaemonSet, "log", {
        spec: { template: { spec }, updateStrategy: { type: "RollingUpdate" } }
      })
      yield* on(["worker-1"])
    })
  )

Harness.scenario(
  "a DaemonSet with OnDelete keeps its pods when its template changes, and has a second revision",
  Effect.gen(function* () {
    yield* Harness.create(DaemonSet, daemonSet({ updateStrategy: { type: "OnDelete" } }))
    yield* on(workers)
    const [[number, former] = []] = yield* history
    assert.deepStrictEqual([number, yield* hashes], [1, new Set([former])])
    yield* use("log:2")
    yield* Harness.advance("1 minute")
    yield* on(workers, "log:1")
    const [, [second, latter] = []] = yield* history
    assert.strictEqual(second, 2)
    assert.notStrictEqual(latter, former)
    assert.deepStrictEqual(yield* hashes, new Set([former]))
  })
)

Harness.scenario(
  "a DaemonSet with RollingUpdate replaces its pods one after another",
  Effect.gen(function* () {
    yield* Harness.create(DaemonSet, daemonSet())
    yield* on(workers)
    yield* use("log:2")
    yield* Harness.until(
      Effect.map(daemons, (all) => {
        assert.isAtLeast(all.filter(Harness.isReady).length, workers.length - 1)
        assert.isTrue(all.every(({ spec }) => spec?.containers[0]?.image === "log:2"))
      }),
      "5 minutes"
    )
    yield* on(workers, "log:2")
    const all = yield* history
    assert.deepStrictEqual(
      all.map(([number]) => number),
      [1, 2]
    )
    assert.deepStrictEqual(yield* hashes, new Set([all[1]?.[1]]))
  })
)

Harness.scenario(
  "a rollback of a DaemonSet leaves the pods alone that were not updated yet",
  Effect.gen(function* () {
    yield* Harness.create(DaemonSet, daemonSet())
    yield* on(workers)
    const before = yield* daemons
    const { spec } = yield* Harness.get(DaemonSet, "log")
    yield* use("foo:404")
    yield* Harness.until(
      Effect.map(daemons, (all) => assert.isTrue(all.some((pod) => pod.spec?.containers[0]?.image === "foo:404")))
    )
    const kept = (yield* daemons).filter(({ metadata }) => before.some((pod) => pod.metadata.uid === metadata.uid))
    assert.isNotEmpty(kept)
    yield* Harness.update(DaemonSet, "log", (found) => ({
      ...found,
      spec: { ...found.spec, template: spec?.template }
    }))
    yield* on(workers, "log:1")
    const after = new Set((yield* daemons).map(({ metadata }) => metadata.uid))
    for (const { metadata } of kept) assert.isTrue(after.has(metadata.uid), metadata.name)
  })
)

Harness.scenario(
  "a DaemonSet with a surge has the new pod before it deletes the old one",
  Effect.gen(function* () {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "20%" } }
    yield* Harness.create(DaemonSet, daemonSet({ updateStrategy, minReadySeconds: 10 }))
    yield* on(workers)
    yield* Harness.advance("20 seconds")
    yield* use("log:2")
    yield* Harness.until(
      Effect.map(daemons, (all) => {
        for (const node of workers) {
          const here = all.filter(({ spec }) => spec?.nodeName === node)
          if (!here.some(Harness.isReady)) return Effect.die(new Error(`no daemon is ready on ${node}`))
        }
        assert.strictEqual(all.length, workers.length)
        return assert.isTrue(all.every(({ spec }) => spec?.containers[0]?.image === "log:2"))
      }),
      "5 minutes"
    )
    yield* on(workers, "log:2")
  })
)

Harness.scenario(
  "a DaemonSet keeps conditions that other clients add, and is deleted with its collection",
  Effect.gen(function* () {
    yield* Harness.create(DaemonSet, daemonSet())
    yield* on(workers)
    const added = { type: "StatusUpdate", status: "True", reason: "E2E", message: "Set from e2e test" }
    yield* Harness.update(
      DaemonSet,
      "log",
      (found) => ({ ...found, status: { ...found.status, conditions: [added] } }),
      "status"
    )
    const [pod] = yield* daemons
    yield* Harness.remove(Pod, pod?.metadata.name ?? "")
    yield* Harness.advance("30 seconds")
    const types = Effect.map(Harness.get(DaemonSet, "log"), ({ status }) => status?.conditions?.map(({ type }) => type))
    assert.deepStrictEqual(yield* types, ["StatusUpdate"])
    const bare = { status: { conditions: [{ type: "StatusPatched", status: "True" }] } }
    yield* Harness.patch(DaemonSet, "log", bare, "status")
    yield* use("log:2")
    yield* on(workers, "log:2")
    assert.deepStrictEqual(yield* types, ["StatusPatched"])
    yield* Harness.removeAll(DaemonSet, "daemon=log", { gracePeriodSeconds: 1 })
    yield* Harness.gone(DaemonSet, "log")
    yield* Harness.until(Effect.map(Harness.list(Pod), (all) => assert.isEmpty(all)))
  })
)

Harness.scenario(
  "a DaemonSet selects nodes by name or by label, by any term of its affinity",
  Effect.gen(function* () {
    const term = (key: string, value: string) => ({ key, operator: "In", values: [value] })
    const nodeSelectorTerms = [
      { matchFields: [term("metadata.name", "worker-1")] },
      { matchExpressions: [term("zone", "test")] }
    ]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }
    const template = Harness.template(labels, "log:1")
    yield* Harness.create(DaemonSet, daemonSet({ template: { ...template, spec: { ...template.spec, affinity } } }))
    yield* on(["worker-1"])
    yield* Harness.patch(Node, "worker-2", { metadata: { labels: { zone: "test" } } })
    yield* on(workers)
  })
)

Harness.scenario(
  "a DaemonSet runs on cordoned nodes; on tainted nodes only if it tolerates the taint",
  Effect.gen(function* () {
    const taint = { key: "key", value: "value", effect: "NoSchedule" }
    yield* Harness.patch(Node, "worker-1", { spec: { unschedulable: true } })
    yield* Harness.patch(Node, "worker-2", { spec: { taints: [taint] } })
    yield* Harness.create(DaemonSet, daemonSet())
    yield* on(["worker-1"])
    const tolerations = [{ ...taint, operator: "Equal" }]
    yield* Harness.patch(DaemonSet, "log", { spec: { template: { spec: { tolerations } } } })
    yield* on(workers)
  })
)
