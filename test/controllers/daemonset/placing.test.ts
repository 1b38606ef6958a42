/** On which nodes DaemonSet pods run: labels, taints, cordons, and nodes that are added and deleted. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as Harness from "./harness.ts"

const nodes = Effect.flatMap(Effect.service(Nodes.Nodes), Effect.succeed)

const label = (node: string, value: string | null) =>
  Harness.patch(Harness.Node, node, { metadata: { labels: { disk: value } } })

const taint = (node: string, ...effects: ReadonlyArray<string>) =>
  Harness.patch(Harness.Node, node, { spec: { taints: effects.map((effect) => ({ key: "own", value: "", effect })) } })

const later = Harness.advance("40 seconds")

const running = Effect.gen(function* () {
  yield* Harness.create(Harness.DaemonSet, Harness.daemonSet())
  yield* later
})

const selecting = Harness.daemonSet({
  template: { metadata: { labels: Harness.labels }, spec: { ...Harness.podSpec(), nodeSelector: { disk: "fast" } } }
})

Harness.scenario(
  "follows a node's labels",
  2,
  Effect.gen(function* () {
    yield* Harness.create(Harness.DaemonSet, selecting)
    yield* later
    assert.deepStrictEqual(yield* Harness.places, [])
    assert.strictEqual((yield* Harness.status)?.observedGeneration, 1)
    yield* label("worker-1", "fast")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
    yield* label("worker-2", "fast")
    yield* label("worker-1", "slow")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-2"])
    yield* label("worker-2", null)
    yield* later
    assert.deepStrictEqual(yield* Harness.places, [])
    const { desiredNumberScheduled, numberMisscheduled } = (yield* Harness.status) ?? {}
    assert.deepStrictEqual([desiredNumberScheduled, numberMisscheduled], [0, 0])
  })
)

Harness.scenario(
  "follows a node's affinity, although the pod's own affinity names only the node",
  2,
  Effect.gen(function* () {
    const terms = [{ matchExpressions: [{ key: "disk", operator: "In", values: ["fast"] }] }]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } }
    const spec = { ...Harness.podSpec(), affinity }
    yield* label("worker-2", "fast")
    yield* Harness.create(
      Harness.DaemonSet,
      Harness.daemonSet({ template: { metadata: { labels: Harness.labels }, spec } })
    )
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-2"])
    const pod = yield* Harness.podOn("worker-2")
    assert.deepStrictEqual(pod.spec?.affinity, {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-2"] }] }]
        }
      }
    })
  })
)

Harness.scenario(
  "is not created on a node whose taint it does not tolerate, stays after a NoSchedule taint, and is deleted after NoExecute",
  2,
  Effect.gen(function* () {
    yield* running
    yield* taint("worker-1", "NoSchedule")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1", "worker-2"])
    yield* Harness.remove(Harness.Pod, (yield* Harness.podOn("worker-2")).metadata.name)
    yield* later
    const { desiredNumberScheduled, numberMisscheduled } = (yield* Harness.status) ?? {}
    assert.deepStrictEqual([desiredNumberScheduled, numberMisscheduled], [1, 1])
    yield* Harness.remove(Harness.Pod, (yield* Harness.podOn("worker-1")).metadata.name)
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-2"])
    yield* taint("worker-2", "NoExecute")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, [])
    yield* taint("worker-1")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
  })
)

Harness.scenario(
  "is created on a cordoned node",
  1,
  Effect.gen(function* () {
    yield* (yield* nodes).cordon("worker-1")
    yield* running
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
  })
)

Harness.scenario(
  "is created on a new node",
  1,
  Effect.gen(function* () {
    yield* running
    yield* (yield* nodes).add("worker-2")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1", "worker-2"])
    assert.strictEqual((yield* Harness.status)?.numberAvailable, 2)
  })
)

Harness.scenario(
  "is deleted while it is pending for a node that is gone",
  2,
  Effect.gen(function* () {
    const big = {
      ...Harness.podSpec(),
      containers: [{ name: "main", image: "log:1", resources: { requests: { cpu: 999 } } }]
    }
    yield* Harness.create(
      Harness.DaemonSet,
      Harness.daemonSet({ template: { metadata: { labels: Harness.labels }, spec: big } })
    )
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1", "worker-2"])
    yield* (yield* nodes).remove("worker-2")
    yield* later
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
    assert.strictEqual((yield* Harness.status)?.desiredNumberScheduled, 1)
  })
)
