import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { clients, condition, create, get, nodes, pass, patch, reasons, remove, settle } from "./harness.ts"

const asking = (cpu: string, more: object = {}) => ({
  containers: [{ name: "main", image: "i", resources: { requests: { cpu } } }],
  ...more
})

const nodeOf = (name: string) => Effect.map(get(name), (pod) => pod.spec?.nodeName ?? "")
const why = (name: string) => Effect.map(get(name), (pod) => condition(pod, "PodScheduled"))

it.effect("a pod that fits on no node gets one condition and one event with the reason", () =>
  Effect.gen(function* () {
    const server = yield* ApiServer
    yield* create("a", asking("64"))
    yield* settle
    assert.deepInclude(yield* why("a"), {
      status: "False",
      reason: "Unschedulable",
      message:
        "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu."
    })
    assert.deepStrictEqual(yield* reasons("a"), ["Warning FailedScheduling"])
    const version = (yield* get("a")).metadata.resourceVersion
    yield* create("b", { containers: [{ name: "main", image: "i", command: ["true"] }], restartPolicy: "Never" })
    yield* pass("10 minutes")
    assert.strictEqual((yield* get("a")).metadata.resourceVersion, version)
    assert.isAbove(yield* server.revision, Number(version))
  }).pipe(Effect.provide(nodes()))
)

it.effect("a pending pod is bound when a node is added or uncordoned, or a pod makes room", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    yield* all.cordon("only")
    yield* create("a", asking("3"))
    yield* settle
    assert.include((yield* why("a"))?.message, "1 node(s) were unschedulable")
    yield* all.uncordon("only")
    yield* settle
    assert.strictEqual(yield* nodeOf("a"), "only")
    yield* create("b", asking("3"))
    yield* create("c", asking("3"))
    yield* settle
    assert.deepStrictEqual([yield* nodeOf("b"), yield* nodeOf("c")], ["", ""])
    yield* all.add("more")
    yield* settle
    assert.deepStrictEqual([yield* nodeOf("b"), yield* nodeOf("c")], ["more", ""])
    yield* pass("2 seconds")
    yield* remove("a")
    yield* pass("2 seconds")
    assert.strictEqual(yield* nodeOf("c"), "only")
  }).pipe(Effect.provide(nodes({ machines: [Machine.make("only", 1, "worker")] })))
)

it.effect("every pod waits while there are no nodes", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    yield* create("a")
    yield* settle
    assert.strictEqual((yield* why("a"))?.message, "no nodes available to schedule pods")
    const added = yield* all.add("first", { cpu: "1", labels: { disk: "ssd" } })
    assert.strictEqual(added.number, 1)
    yield* pass("1 seconds")
    assert.strictEqual((yield* get("a")).status?.phase, "Running")
    yield* all.remove("first")
    const client = yield* KubeClient
    assert.deepStrictEqual((yield* client.list(Node)).items, [])
    assert.strictEqual((yield* Effect.flip(all.stop("first")))._tag, "UnknownMachine")
    yield* pass("1 minute")
    assert.deepStrictEqual((yield* client.list(Node)).items, [])
  }).pipe(Effect.provide(nodes({ machines: [] })))
)

it.effect("pods with scheduling gates or of another scheduler are not bound", () =>
  Effect.gen(function* () {
    yield* create("gated", { schedulingGates: [{ name: "example.com/quota" }] })
    yield* create("foreign", { schedulerName: "other" })
    yield* pass("1 minute")
    assert.deepStrictEqual([yield* nodeOf("gated"), yield* nodeOf("foreign")], ["", ""])
    assert.notStrictEqual((yield* why("gated"))?.reason, "Unschedulable")
    yield* patch("gated", { spec: { schedulingGates: null } })
    yield* pass("1 seconds")
    assert.notStrictEqual(yield* nodeOf("gated"), "")
  }).pipe(Effect.provide(nodes()))
)

it.effect(
  "a pod with the node affinity and tolerations of a DaemonSet is bound to its node, even if it is tainted or cordoned",
  () =>
    Effect.gen(function* () {
      const all = yield* Nodes.Nodes
      yield* all.cordon("worker-1")
      for (const name of ["control-plane", "worker-1", "worker-2"]) {
        const matchFields = [{ key: "metadata.name", operator: "In", values: [name] }]
        const required = { nodeSelectorTerms: [{ matchFields }] }
        yield* create(`ds-${name}`, {
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
          tolerations: [{ operator: "Exists" }]
        })
      }
      yield* settle
      for (const name of ["control-plane", "worker-1", "worker-2"])
        assert.strictEqual(yield* nodeOf(`ds-${name}`), name)
    }).pipe(Effect.provide(nodes()))
)

it.effect("the pod with the higher priority is bound first", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    yield* create("low", asking("3"))
    yield* create("high", asking("3", { priorityClassName: "system-node-critical" }))
    yield* settle
    yield* all.add("one")
    yield* settle
    assert.deepStrictEqual([yield* nodeOf("low"), yield* nodeOf("high")], ["", "one"])
  }).pipe(Effect.provide(nodes({ machines: [] })))
)

it.effect("two pods are never bound to the same free room, however late the watch is", () =>
  Effect.gen(function* () {
    for (let i = 0; i < 20; i++) yield* create(`p${i}`, asking("1"))
    yield* settle
    const client = yield* KubeClient
    const { items } = yield* client.list(Pod)
    for (const node of ["worker-1", "worker-2"])
      assert.strictEqual(items.filter((pod) => pod.spec?.nodeName === node).length, 4)
  }).pipe(Effect.provide(nodes({ events: false })))
)

it.effect("pods that a synced cache already holds are scheduled", () =>
  Effect.gen(function* () {
    const cache = yield* Cache
    yield* cache.subscribe(Pod)
    yield* create("a")
    yield* settle
    const exit = yield* Effect.exit(
      Effect.gen(function* () {
        yield* pass("1 seconds")
        assert.strictEqual((yield* get("a")).status?.phase, "Running")
      }).pipe(Effect.provide(Nodes.layer()))
    )
    assert.isTrue(Exit.isSuccess(exit))
  }).pipe(Effect.provide(clients))
)

it.effect("a new node is registered without the server's not-ready taint, and keeps its other taints", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const { spec } = yield* client.get(Node, { name: "t" })
    assert.deepStrictEqual(spec?.taints, [{ key: "own", effect: "NoExecute" }])
    const node = yield* client.get(Node, { name: "t" })
    assert.deepInclude(node.status?.allocatable, { "example.com/gpu": "2", cpu: "4" })
  }).pipe(
    Effect.provide(
      nodes({
        machines: [
          Machine.make("t", 1, "worker", {
            taints: [
              { key: "own", effect: "NoExecute" },
              { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }
            ],
            resources: { "example.com/gpu": "2" }
          })
        ]
      }).pipe(Layer.fresh)
    )
  )
)
