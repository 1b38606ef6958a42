/** Faults of machines and of their pods that no API request causes: crashes, evictions, lost machines. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as harness from "./harness.ts"

const two = { containers: ["main", "side"].map((name) => ({ name, image: "example.test/x:1" })) }

const restarts = Effect.map(harness.get("p"), (pod) => pod.status?.containerStatuses?.map((one) => one.restartCount))

it.effect("a crash ends one container now, once, and the restart policy decides what follows", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    yield* harness.create("p", two)
    yield* harness.pass("10 seconds")
    yield* nodes.crash({ name: "p" }, { container: "main", exitCode: 3 })
    yield* harness.settle
    const pod = yield* harness.get("p")
    const [main, side] = pod.status?.containerStatuses ?? []
    assert.deepInclude(main?.state?.terminated, { exitCode: 3, finishedAt: "1970-01-01T00:00:10Z" })
    assert.deepStrictEqual([side?.ready, harness.condition(pod, "Ready")?.status], [true, "False"])
    yield* harness.pass("10 seconds")
    assert.strictEqual(harness.condition(yield* harness.get("p"), "Ready")?.status, "True")
    assert.deepStrictEqual(yield* restarts, [1, 0])
    yield* harness.pass("10 minutes")
    assert.deepStrictEqual(yield* restarts, [1, 0])
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect(
  "a crash without the name of a container ends all containers, and with them a pod that is not restarted",
  () =>
    Effect.gen(function* () {
      const nodes = yield* Nodes.Nodes
      yield* harness.create("p", { ...two, restartPolicy: "Never" })
      yield* harness.pass("10 seconds")
      yield* nodes.crash({ name: "p" })
      yield* harness.settle
      const { status } = yield* harness.get("p")
      assert.strictEqual(status?.phase, "Failed")
      assert.deepStrictEqual(
        status?.containerStatuses?.map((one) => one.state?.terminated?.exitCode),
        [1, 1]
      )
    }).pipe(Effect.provide(harness.nodes()))
)

it.effect("an evicted pod fails for good with the reason Evicted, and its object stays", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    yield* harness.create("p")
    yield* harness.pass("10 seconds")
    yield* nodes.evict({ namespace: "default", name: "p" })
    yield* harness.pass("10 minutes")
    const pod = yield* harness.get("p")
    assert.deepInclude(pod.status, { phase: "Failed", reason: "Evicted" })
    assert.deepInclude(harness.condition(pod, "DisruptionTarget"), { status: "True", reason: "TerminationByKubelet" })
    assert.deepStrictEqual(
      [harness.condition(pod, "Ready")?.status, pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode],
      ["False", 137]
    )
    assert.include(yield* harness.reasons("p"), "Warning Evicted")
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("a crash is applied later if its write fails or its kubelet is stopped", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const server = yield* ApiServer
    yield* harness.create("p")
    yield* harness.pass("10 seconds")
    yield* server.setFaults([
      { match: { verb: "patch", resource: "pods/status" }, fault: { _tag: "Conflict" }, times: 1 }
    ])
    yield* nodes.crash({ name: "p" })
    yield* harness.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [1])
    yield* nodes.stop("worker-1")
    yield* nodes.crash({ name: "p" })
    yield* harness.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [1])
    yield* nodes.start("worker-1")
    yield* harness.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [2])
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("a crash of a pod that is on no machine fails with UnknownPod", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const failure = yield* Effect.flip(nodes.crash({ name: "none" }))
    assert.strictEqual(failure.message, 'no simulated machine has a pod "default/none"')
    assert.strictEqual((yield* Effect.flip(nodes.evict({ namespace: "n", name: "none" })))._tag, "UnknownPod")
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("a removed machine does not register its node again, leaves its pods, and can be added again", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    const names = Effect.map(client.list(Node), ({ items }) => items.map(({ metadata }) => metadata.name))
    yield* harness.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* harness.pass("10 seconds")
    yield* nodes.remove("worker-1")
    yield* harness.pass("1 hour")
    assert.deepStrictEqual(yield* names, ["control-plane", "worker-2"])
    assert.strictEqual(yield* harness.wordOf("p"), "Running")
    assert.strictEqual((yield* Effect.flip(nodes.start("worker-1")))._tag, "UnknownMachine")
    yield* nodes.add("worker-1")
    yield* harness.pass("10 seconds")
    assert.deepStrictEqual(yield* names, ["control-plane", "worker-1", "worker-2"])
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("a heartbeat in flight when the machine is removed does not register the node again", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    const server = yield* ApiServer
    const find = Effect.result(client.get(Node, { name: "worker-1" }))
    yield* harness.settle
    // A client deletes the node; the heartbeat that registers it anew is slow.
    yield* client.delete(Node, { name: "worker-1" })
    yield* server.setFaults([
      { match: { verb: "create", resource: "nodes" }, fault: { _tag: "Delay", millis: 5_000 }, times: 1 }
    ])
    yield* harness.pass("10 seconds")
    const removing = yield* Effect.forkChild(Effect.result(nodes.remove("worker-1")), { startImmediately: true })
    yield* harness.pass("1 hour")
    assert.isDefined(removing.pollUnsafe())
    assert.strictEqual((yield* find)._tag, "Failure")
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("a machine whose node cannot be deleted continues to run, and can be removed later", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const server = yield* ApiServer
    yield* server.setFaults([{ match: { verb: "delete", resource: "nodes" }, fault: { _tag: "Conflict" }, times: 1 }])
    assert.strictEqual((yield* Effect.flip(nodes.remove("worker-1")))._tag, "ApiError")
    const { isRunning } = (yield* nodes.machines).find(({ machine }) => machine.name === "worker-1")!
    assert.isTrue(isRunning)
    yield* harness.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* harness.pass("10 seconds")
    assert.strictEqual(yield* harness.wordOf("p"), "Running")
    yield* nodes.remove("worker-1")
    assert.notInclude(
      (yield* nodes.machines).map(({ machine }) => machine.name),
      "worker-1"
    )
  }).pipe(Effect.provide(harness.nodes()))
)

it.effect("no kubelet runs the pods of a removed machine", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    yield* harness.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* harness.pass("10 seconds")
    yield* nodes.remove("worker-1")
    yield* harness.remove("p")
    yield* harness.pass("10 minutes")
    assert.isDefined((yield* client.get(Pod, { namespace: "default", name: "p" })).metadata.deletionTimestamp)
    assert.strictEqual((yield* Effect.flip(nodes.crash({ name: "p" })))._tag, "UnknownPod")
  }).pipe(Effect.provide(harness.nodes()))
)
