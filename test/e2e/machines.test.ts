/** The cases for the loops of nodes from Kubernetes' end-to-end suite: test/e2e/node/{taints,pod_gc}.go, test/e2e/apps/network_partition.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Node, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as Harness from "./harness.ts"

const taint = { key: "kubernetes.io/e2e-evict-taint-key", value: "evictTaintVal", effect: "NoExecute" }

const setTaints = (node: string, taints: ReadonlyArray<object>) => Harness.patch(Node, node, { spec: { taints } })

/** Tolerates the taint for this many seconds, forever with `undefined`, or not at all. */
const tolerating = (seconds?: number | "never") => {
  const { effect, key, value } = taint
  const limit = typeof seconds === "number" ? { tolerationSeconds: seconds } : {}
  return seconds === "never" ? {} : { tolerations: [{ key, value, effect, operator: "Equal", ...limit }] }
}

/** Runs a pod and returns the node on which it runs. */
const run = (name: string, more: object) =>
  Effect.gen(function* () {
    yield* Harness.create(Pod, { metadata: { name, labels: { group: "taint" } }, spec: { ...Harness.spec(), ...more } })
    return yield* Harness.until(
      Effect.map(Harness.get(Pod, name), ({ spec, status }) => {
        assert.strictEqual(status?.phase, "Running")
        return spec?.nodeName ?? ""
      })
    )
  })

Harness.scenario(
  "a NoExecute taint evicts a pod that does not tolerate it, and one with tolerationSeconds after that time",
  Effect.gen(function* () {
    const nodeName = "worker-1"
    for (const [name, seconds] of [
      ["not", "never"],
      ["ever", undefined],
      ["while", 130]
    ] as const)
      yield* run(name, { ...tolerating(seconds), nodeName })
    yield* setTaints(nodeName, [taint])
    yield* Harness.gone(Pod, "not", "1 minute")
    yield* Harness.advance("65 seconds")
    assert.isFalse(yield* Harness.isGone(Pod, "while"))
    yield* Harness.gone(Pod, "while", "70 seconds")
    assert.isFalse(yield* Harness.isGone(Pod, "ever"))
  })
)

Harness.scenario(
  "a taint that is removed in time evicts no pod; each of two pods has its own tolerationSeconds",
  Effect.gen(function* () {
    const nodeName = yield* run("one", tolerating(5))
    yield* run("two", { ...tolerating(25), nodeName })
    yield* setTaints(nodeName, [taint])
    yield* Harness.advance("3 seconds")
    yield* setTaints(nodeName, [])
    yield* Harness.advance("80 seconds")
    assert.strictEqual((yield* Harness.livingPods("group=taint")).length, 2)
    yield* setTaints(nodeName, [taint])
    yield* Harness.gone(Pod, "one", "10 seconds")
    assert.isFalse(yield* Harness.isGone(Pod, "two"))
    yield* Harness.gone(Pod, "two", "30 seconds")
  })
)

Harness.scenario(
  "a pod that a taint evicts has the condition DisruptionTarget",
  Effect.gen(function* () {
    const nodeName = yield* run("held", {})
    yield* Harness.patch(Pod, "held", { metadata: { finalizers: ["example.com/test-finalizer"] } })
    yield* setTaints(nodeName, [taint])
    yield* Harness.until(
      Effect.map(Harness.get(Pod, "held"), ({ metadata, status }) => {
        assert.isDefined(metadata.deletionTimestamp)
        assert.deepInclude(
          status?.conditions?.find(({ type }) => type === "DisruptionTarget"),
          { status: "True", reason: "DeletionByTaintManager" }
        )
      })
    )
    yield* Harness.patch(Pod, "held", { metadata: { finalizers: null } })
    yield* Harness.gone(Pod, "held")
  })
)

Harness.scenario(
  "no more terminated pods are kept than the threshold allows",
  Effect.gen(function* () {
    const client = yield* KubeClient
    for (let index = 0; index < 150; index++) {
      const name = `done-${index}`
      yield* client.create(Pod, { metadata: { name, namespace: "default" }, spec: Harness.spec() })
      yield* Harness.patch(Pod, name, { status: { phase: "Failed" } }, "status")
    }
    yield* Harness.until(Effect.map(Harness.list(Pod), (all) => assert.strictEqual(all.length, 100)))
    yield* Harness.advance("1 minute")
    assert.strictEqual((yield* Harness.list(Pod)).length, 100)
  })
)

Harness.scenario(
  "a silent node is marked unreachable and its pods become not ready; both recover with the node",
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const nodeName = yield* run("steady", { nodeName: "worker-1" })
    const readiness = Effect.all([
      Effect.map(
        Harness.get(Node, nodeName),
        ({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status
      ),
      Effect.map(Harness.get(Pod, "steady"), Harness.isReady)
    ])
    const holds = (node: string, pod: boolean) =>
      Harness.until(Effect.map(readiness, (found) => assert.deepStrictEqual(found, [node, pod])))
    yield* holds("True", true)
    yield* nodes.stop(nodeName)
    yield* holds("Unknown", false)
    yield* nodes.start(nodeName)
    yield* holds("True", true)
    const { spec } = yield* Harness.get(Node, nodeName)
    yield* Harness.until(Effect.map(Harness.get(Node, nodeName), (node) => assert.isEmpty(node.spec?.taints ?? [])))
    assert.isDefined(spec)
  })
)
