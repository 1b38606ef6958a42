/** Where daemons run: labels, taints, cordons, and nodes that come and go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as Stand from "./harness.ts"

const nodes = Effect.flatMap(Effect.service(Nodes.Nodes), Effect.succeed)

const label = (node: string, value: string | null) =>
  Stand.patch(Stand.Node, node, { metadata: { labels: { disk: value } } })

const taint = (node: string, ...effects: ReadonlyArray<string>) =>
  Stand.patch(Stand.Node, node, { spec: { taints: effects.map((effect) => ({ key: "own", value: "", effect })) } })

const later = Stand.advance("40 seconds")

const running = Effect.gen(function* () {
  yield* Stand.create(Stand.DaemonSet, Stand.daemonSet())
  yield* later
})

const selecting = Stand.daemonSet({
  template: { metadata: { labels: Stand.labels }, spec: { ...Stand.podSpec(), nodeSelector: { disk: "fast" } } }
})

Stand.scenario(
  "follows a node's labels",
  2,
  Effect.gen(function* () {
    yield* Stand.create(Stand.DaemonSet, selecting)
    yield* later
    assert.deepStrictEqual(yield* Stand.places, [])
    assert.strictEqual((yield* Stand.status)?.observedGeneration, 1)
    yield* label("worker-1", "fast")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
    yield* label("worker-2", "fast")
    yield* label("worker-1", "slow")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-2"])
    yield* label("worker-2", null)
    yield* later
    assert.deepStrictEqual(yield* Stand.places, [])
    const { desiredNumberScheduled, numberMisscheduled } = (yield* Stand.status) ?? {}
    assert.deepStrictEqual([desiredNumberScheduled, numberMisscheduled], [0, 0])
  })
)

Stand.scenario(
  "follows a node's affinity, which the pod itself no longer asks for",
  2,
  Effect.gen(function* () {
    const terms = [{ matchExpressions: [{ key: "disk", operator: "In", values: ["fast"] }] }]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } }
    const spec = { ...Stand.podSpec(), affinity }
    yield* label("worker-2", "fast")
    yield* Stand.create(Stand.DaemonSet, Stand.daemonSet({ template: { metadata: { labels: Stand.labels }, spec } }))
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-2"])
    const pod = yield* Stand.podOn("worker-2")
    assert.deepStrictEqual(pod.spec?.affinity, {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-2"] }] }]
        }
      }
    })
  })
)

Stand.scenario(
  "comes to no node that it does not tolerate, stays where it was, and leaves what executes",
  2,
  Effect.gen(function* () {
    yield* running
    yield* taint("worker-1", "NoSchedule")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1", "worker-2"])
    yield* Stand.remove(Stand.Pod, (yield* Stand.podOn("worker-2")).metadata.name)
    yield* later
    const { desiredNumberScheduled, numberMisscheduled } = (yield* Stand.status) ?? {}
    assert.deepStrictEqual([desiredNumberScheduled, numberMisscheduled], [1, 1])
    yield* Stand.remove(Stand.Pod, (yield* Stand.podOn("worker-1")).metadata.name)
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-2"])
    yield* taint("worker-2", "NoExecute")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, [])
    yield* taint("worker-1")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
  })
)

Stand.scenario(
  "comes to a node that lets nobody else come",
  1,
  Effect.gen(function* () {
    yield* (yield* nodes).cordon("worker-1")
    yield* running
    assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
  })
)

Stand.scenario(
  "comes with a new node",
  1,
  Effect.gen(function* () {
    yield* running
    yield* (yield* nodes).add("worker-2")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1", "worker-2"])
    assert.strictEqual((yield* Stand.status)?.numberAvailable, 2)
  })
)

Stand.scenario(
  "takes back a pod that waits for a node that is gone",
  2,
  Effect.gen(function* () {
    const big = {
      ...Stand.podSpec(),
      containers: [{ name: "main", image: "log:1", resources: { requests: { cpu: 999 } } }]
    }
    yield* Stand.create(
      Stand.DaemonSet,
      Stand.daemonSet({ template: { metadata: { labels: Stand.labels }, spec: big } })
    )
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1", "worker-2"])
    yield* (yield* nodes).remove("worker-2")
    yield* later
    assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
    assert.strictEqual((yield* Stand.status)?.desiredNumberScheduled, 1)
  })
)
