/**
 * What Kubernetes' suites ask of DaemonSets: test/e2e/apps/daemon_set.go, test/integration/daemonset. Surges under bad luck are in
 * controllers/daemonset/updating.test.ts.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ControllerRevision, DaemonSet, Node, Pod } from "../../src/kube/resources.ts"
import * as World from "./stand.ts"

const labels = { daemon: "log" }
const hash = "controller-revision-hash"

const daemonSet = (spec: object = {}, more: object = {}) => ({
  metadata: { name: "log", labels, ...more },
  spec: { selector: { matchLabels: labels }, template: World.template(labels, "log:1"), ...spec }
})

const workers = ["worker-1", "worker-2"]

const daemons = World.livingPods("daemon=log")

/** One pod that is ready on each of these nodes, of that image, and a status that says so. */
const on = (nodes: ReadonlyArray<string>, image = "log:1") =>
  World.until(
    Effect.gen(function* () {
      const found = yield* daemons
      assert.isTrue(found.every(World.isReady))
      assert.sameMembers(
        found.map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`),
        nodes.map((node) => `${node} ${image}`)
      )
      const { metadata, status } = yield* World.get(DaemonSet, "log")
      const { currentNumberScheduled, desiredNumberScheduled, numberReady, observedGeneration } = status ?? {}
      assert.deepStrictEqual(
        [desiredNumberScheduled, currentNumberScheduled, numberReady, observedGeneration],
        [nodes.length, nodes.length, nodes.length, metadata.generation]
      )
    }),
    "5 minutes"
  )

/** Numbers and hashes of the revisions, which every one has. */
const history = Effect.map(World.list(ControllerRevision, "daemon=log"), (all) =>
  all.map(({ metadata, revision }) => [revision, metadata.labels?.[hash] ?? ""] as const).sort(([a], [b]) => a - b)
)

const hashes = Effect.map(daemons, (all) => new Set(all.map(({ metadata }) => metadata.labels?.[hash])))

const use = (image: string) =>
  World.strategic(DaemonSet, "log", { spec: { template: { spec: { containers: [{ name: "main", image }] } } } })

World.scenario(
  "runs on every node, and brings a pod back that is deleted or fails",
  Effect.gen(function* () {
    yield* World.create(DaemonSet, daemonSet())
    yield* on(workers)
    const [first] = yield* daemons
    yield* World.remove(Pod, first?.metadata.name ?? "")
    yield* World.gone(Pod, first?.metadata.name ?? "")
    yield* on(workers)
    const [second] = yield* daemons
    const { resourceVersion: _, ...metadata } = second?.metadata ?? { name: "" }
    yield* World.update(
      Pod,
      metadata.name,
      (pod) => ({ ...pod, metadata, status: { ...pod.status, phase: "Failed" } }),
      "status"
    )
    yield* World.gone(Pod, metadata.name)
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
  World.scenario(
    `comes to nodes and leaves them as their labels change, by ${how}`,
    Effect.gen(function* () {
      const template = World.template(labels, "log:1")
      yield* World.create(DaemonSet, daemonSet({ template: { ...template, spec: { ...template.spec, ...pinned } } }))
      yield* on([])
      yield* World.patch(Node, "worker-1", { metadata: { labels: { color: "blue" } } })
      yield* on(["worker-1"])
      yield* World.patch(Node, "worker-1", { metadata: { labels: { color: "green" } } })
      yield* on([])
      const spec = { nodeSelector: { color: "green" }, affinity: null }
      yield* World.patch(DaemonSet, "log", { spec: { template: { spec }, updateStrategy: { type: "RollingUpdate" } } })
      yield* on(["worker-1"])
    })
  )

World.scenario(
  "with OnDelete keeps its pods when its template changes, and has a second revision",
  Effect.gen(function* () {
    yield* World.create(DaemonSet, daemonSet({ updateStrategy: { type: "OnDelete" } }))
    yield* on(workers)
    const [[number, former] = []] = yield* history
    assert.deepStrictEqual([number, yield* hashes], [1, new Set([former])])
    yield* use("log:2")
    yield* World.advance("1 minute")
    yield* on(workers, "log:1")
    const [, [second, latter] = []] = yield* history
    assert.strictEqual(second, 2)
    assert.notStrictEqual(latter, former)
    assert.deepStrictEqual(yield* hashes, new Set([former]))
  })
)

World.scenario(
  "with RollingUpdate replaces its pods one after another",
  Effect.gen(function* () {
    yield* World.create(DaemonSet, daemonSet())
    yield* on(workers)
    yield* use("log:2")
    yield* World.until(
      Effect.map(daemons, (all) => {
        assert.isAtLeast(all.filter(World.isReady).length, workers.length - 1)
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

World.scenario(
  "goes back without touching the pods that never changed",
  Effect.gen(function* () {
    yield* World.create(DaemonSet, daemonSet())
    yield* on(workers)
    const before = yield* daemons
    const { spec } = yield* World.get(DaemonSet, "log")
    yield* use("foo:404")
    yield* World.until(
      Effect.map(daemons, (all) => assert.isTrue(all.some((pod) => pod.spec?.containers[0]?.image === "foo:404")))
    )
    const kept = (yield* daemons).filter(({ metadata }) => before.some((pod) => pod.metadata.uid === metadata.uid))
    assert.isNotEmpty(kept)
    yield* World.update(DaemonSet, "log", (found) => ({ ...found, spec: { ...found.spec, template: spec?.template } }))
    yield* on(workers, "log:1")
    const after = new Set((yield* daemons).map(({ metadata }) => metadata.uid))
    for (const { metadata } of kept) assert.isTrue(after.has(metadata.uid), metadata.name)
  })
)

World.scenario(
  "with a surge has the new pod before it takes the old one",
  Effect.gen(function* () {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "20%" } }
    yield* World.create(DaemonSet, daemonSet({ updateStrategy, minReadySeconds: 10 }))
    yield* on(workers)
    yield* World.advance("20 seconds")
    yield* use("log:2")
    yield* World.until(
      Effect.map(daemons, (all) => {
        for (const node of workers) {
          const here = all.filter(({ spec }) => spec?.nodeName === node)
          if (!here.some(World.isReady)) return Effect.die(new Error(`no daemon is ready on ${node}`))
        }
        assert.strictEqual(all.length, workers.length)
        return assert.isTrue(all.every(({ spec }) => spec?.containers[0]?.image === "log:2"))
      }),
      "5 minutes"
    )
    yield* on(workers, "log:2")
  })
)

World.scenario(
  "keeps conditions that others add, and goes with others",
  Effect.gen(function* () {
    yield* World.create(DaemonSet, daemonSet())
    yield* on(workers)
    const added = { type: "StatusUpdate", status: "True", reason: "E2E", message: "Set from e2e test" }
    yield* World.update(
      DaemonSet,
      "log",
      (found) => ({ ...found, status: { ...found.status, conditions: [added] } }),
      "status"
    )
    const [pod] = yield* daemons
    yield* World.remove(Pod, pod?.metadata.name ?? "")
    yield* World.advance("30 seconds")
    const types = Effect.map(World.get(DaemonSet, "log"), ({ status }) => status?.conditions?.map(({ type }) => type))
    assert.deepStrictEqual(yield* types, ["StatusUpdate"])
    const bare = { status: { conditions: [{ type: "StatusPatched", status: "True" }] } }
    yield* World.patch(DaemonSet, "log", bare, "status")
    yield* use("log:2")
    yield* on(workers, "log:2")
    assert.deepStrictEqual(yield* types, ["StatusPatched"])
    yield* World.removeAll(DaemonSet, "daemon=log", { gracePeriodSeconds: 1 })
    yield* World.gone(DaemonSet, "log")
    yield* World.until(Effect.map(World.list(Pod), (all) => assert.isEmpty(all)))
  })
)

World.scenario(
  "comes to nodes by their names or by their labels, whichever term of an affinity they meet",
  Effect.gen(function* () {
    const term = (key: string, value: string) => ({ key, operator: "In", values: [value] })
    const nodeSelectorTerms = [
      { matchFields: [term("metadata.name", "worker-1")] },
      { matchExpressions: [term("zone", "test")] }
    ]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }
    const template = World.template(labels, "log:1")
    yield* World.create(DaemonSet, daemonSet({ template: { ...template, spec: { ...template.spec, affinity } } }))
    yield* on(["worker-1"])
    yield* World.patch(Node, "worker-2", { metadata: { labels: { zone: "test" } } })
    yield* on(workers)
  })
)

World.scenario(
  "runs where nobody else may: on nodes that are cordoned; not on tainted ones, unless it tolerates the taint",
  Effect.gen(function* () {
    const taint = { key: "key", value: "value", effect: "NoSchedule" }
    yield* World.patch(Node, "worker-1", { spec: { unschedulable: true } })
    yield* World.patch(Node, "worker-2", { spec: { taints: [taint] } })
    yield* World.create(DaemonSet, daemonSet())
    yield* on(["worker-1"])
    const tolerations = [{ ...taint, operator: "Equal" }]
    yield* World.patch(DaemonSet, "log", { spec: { template: { spec: { tolerations } } } })
    yield* on(workers)
  })
)
