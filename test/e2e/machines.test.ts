/** What Kubernetes' end-to-end suite asks of the loops of nodes: test/e2e/node/{taints,pod_gc}.go, test/e2e/apps/network_partition.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Node, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as World from "./stand.ts"

const taint = { key: "kubernetes.io/e2e-evict-taint-key", value: "evictTaintVal", effect: "NoExecute" }

const setTaints = (node: string, taints: ReadonlyArray<object>) => World.patch(Node, node, { spec: { taints } })

/** Tolerates the taint for so many seconds, for ever with none, or not at all. */
const tolerating = (seconds?: number | "never") => {
  const { effect, key, value } = taint
  const limit = typeof seconds === "number" ? { tolerationSeconds: seconds } : {}
  return seconds === "never" ? {} : { tolerations: [{ key, value, effect, operator: "Equal", ...limit }] }
}

/** Runs a pod and says on which node it came to be. */
const run = (name: string, more: object) =>
  Effect.gen(function* () {
    yield* World.create(Pod, { metadata: { name, labels: { group: "taint" } }, spec: { ...World.spec(), ...more } })
    return yield* World.until(
      Effect.map(World.get(Pod, name), ({ spec, status }) => {
        assert.strictEqual(status?.phase, "Running")
        return spec?.nodeName ?? ""
      })
    )
  })

World.scenario(
  "a taint takes the pod that does not tolerate it, leaves the one that does, and the one that does for a time until then",
  Effect.gen(function* () {
    const nodeName = "worker-1"
    for (const [name, seconds] of [
      ["not", "never"],
      ["ever", undefined],
      ["while", 130]
    ] as const)
      yield* run(name, { ...tolerating(seconds), nodeName })
    yield* setTaints(nodeName, [taint])
    yield* World.gone(Pod, "not", "1 minute")
    yield* World.advance("65 seconds")
    assert.isFalse(yield* World.isGone(Pod, "while"))
    yield* World.gone(Pod, "while", "70 seconds")
    assert.isFalse(yield* World.isGone(Pod, "ever"))
  })
)

World.scenario(
  "a taint that goes in time takes nobody, and of two pods each has the time that it tolerates",
  Effect.gen(function* () {
    const nodeName = yield* run("one", tolerating(5))
    yield* run("two", { ...tolerating(25), nodeName })
    yield* setTaints(nodeName, [taint])
    yield* World.advance("3 seconds")
    yield* setTaints(nodeName, [])
    yield* World.advance("80 seconds")
    assert.strictEqual((yield* World.livingPods("group=taint")).length, 2)
    yield* setTaints(nodeName, [taint])
    yield* World.gone(Pod, "one", "10 seconds")
    assert.isFalse(yield* World.isGone(Pod, "two"))
    yield* World.gone(Pod, "two", "30 seconds")
  })
)

World.scenario(
  "a pod that a taint takes says so as long as it is there",
  Effect.gen(function* () {
    const nodeName = yield* run("held", {})
    yield* World.patch(Pod, "held", { metadata: { finalizers: ["example.com/test-finalizer"] } })
    yield* setTaints(nodeName, [taint])
    yield* World.until(
      Effect.map(World.get(Pod, "held"), ({ metadata, status }) => {
        assert.isDefined(metadata.deletionTimestamp)
        assert.deepInclude(
          status?.conditions?.find(({ type }) => type === "DisruptionTarget"),
          { status: "True", reason: "DeletionByTaintManager" }
        )
      })
    )
    yield* World.patch(Pod, "held", { metadata: { finalizers: null } })
    yield* World.gone(Pod, "held")
  })
)

World.scenario(
  "of pods that have ended no more are kept than were asked for",
  Effect.gen(function* () {
    const client = yield* KubeClient
    for (let index = 0; index < 150; index++) {
      const name = `done-${index}`
      yield* client.create(Pod, { metadata: { name, namespace: "default" }, spec: World.spec() })
      yield* World.patch(Pod, name, { status: { phase: "Failed" } }, "status")
    }
    yield* World.until(Effect.map(World.list(Pod), (all) => assert.strictEqual(all.length, 100)))
    yield* World.advance("1 minute")
    assert.strictEqual((yield* World.list(Pod)).length, 100)
  })
)

World.scenario(
  "a node that falls silent is said to be, its pods are not ready, and both come back with it",
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const nodeName = yield* run("steady", { nodeName: "worker-1" })
    const readiness = Effect.all([
      Effect.map(
        World.get(Node, nodeName),
        ({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status
      ),
      Effect.map(World.get(Pod, "steady"), World.isReady)
    ])
    const holds = (node: string, pod: boolean) =>
      World.until(Effect.map(readiness, (found) => assert.deepStrictEqual(found, [node, pod])))
    yield* holds("True", true)
    yield* nodes.stop(nodeName)
    yield* holds("Unknown", false)
    yield* nodes.start(nodeName)
    yield* holds("True", true)
    const { spec } = yield* World.get(Node, nodeName)
    yield* World.until(Effect.map(World.get(Node, nodeName), (node) => assert.isEmpty(node.spec?.taints ?? [])))
    assert.isDefined(spec)
  })
)
