/** Faults of machines and of the pods on them without a request: crashes, evictions, lost machines. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as stand from "./stand.ts"

const two = { containers: ["main", "side"].map((name) => ({ name, image: "example.test/x:1" })) }

const restarts = Effect.map(stand.get("p"), (pod) => pod.status?.containerStatuses?.map((one) => one.restartCount))

it.effect("a crash ends one container now, and the restart policy decides what follows; it happens once", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    yield* stand.create("p", two)
    yield* stand.pass("10 seconds")
    yield* nodes.crash({ name: "p" }, { container: "main", exitCode: 3 })
    yield* stand.settle
    const pod = yield* stand.get("p")
    const [main, side] = pod.status?.containerStatuses ?? []
    assert.deepInclude(main?.state?.terminated, { exitCode: 3, finishedAt: "1970-01-01T00:00:10Z" })
    assert.deepStrictEqual([side?.ready, stand.condition(pod, "Ready")?.status], [true, "False"])
    yield* stand.pass("10 seconds")
    assert.strictEqual(stand.condition(yield* stand.get("p"), "Ready")?.status, "True")
    assert.deepStrictEqual(yield* restarts, [1, 0])
    yield* stand.pass("10 minutes")
    assert.deepStrictEqual(yield* restarts, [1, 0])
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a crash of a pod that is not restarted ends it; without a name it is of all containers", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    yield* stand.create("p", { ...two, restartPolicy: "Never" })
    yield* stand.pass("10 seconds")
    yield* nodes.crash({ name: "p" })
    yield* stand.settle
    const { status } = yield* stand.get("p")
    assert.strictEqual(status?.phase, "Failed")
    assert.deepStrictEqual(
      status?.containerStatuses?.map((one) => one.state?.terminated?.exitCode),
      [1, 1]
    )
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("an eviction ends a pod for good, says why, and leaves the object", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    yield* stand.create("p")
    yield* stand.pass("10 seconds")
    yield* nodes.evict({ namespace: "default", name: "p" })
    yield* stand.pass("10 minutes")
    const pod = yield* stand.get("p")
    assert.deepInclude(pod.status, { phase: "Failed", reason: "Evicted" })
    assert.deepInclude(stand.condition(pod, "DisruptionTarget"), { status: "True", reason: "TerminationByKubelet" })
    assert.deepStrictEqual(
      [stand.condition(pod, "Ready")?.status, pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode],
      ["False", 137]
    )
    assert.include(yield* stand.reasons("p"), "Warning Evicted")
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a crash is not lost when its write fails, nor on a machine that is silent", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const server = yield* ApiServer
    yield* stand.create("p")
    yield* stand.pass("10 seconds")
    yield* server.setFaults([
      { match: { verb: "patch", resource: "pods/status" }, fault: { _tag: "Conflict" }, times: 1 }
    ])
    yield* nodes.crash({ name: "p" })
    yield* stand.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [1])
    yield* nodes.stop("worker-1")
    yield* nodes.crash({ name: "p" })
    yield* stand.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [1])
    yield* nodes.start("worker-1")
    yield* stand.pass("1 minute")
    assert.deepStrictEqual(yield* restarts, [2])
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a pod that no machine has cannot crash", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const failure = yield* Effect.flip(nodes.crash({ name: "none" }))
    assert.strictEqual(failure.message, 'no simulated machine has a pod "default/none"')
    assert.strictEqual((yield* Effect.flip(nodes.evict({ namespace: "n", name: "none" })))._tag, "UnknownPod")
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a machine that is taken away stays away with its node, leaves its pods, and may come again", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    const names = Effect.map(client.list(Node), ({ items }) => items.map(({ metadata }) => metadata.name))
    yield* stand.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* stand.pass("10 seconds")
    yield* nodes.remove("worker-1")
    yield* stand.pass("1 hour")
    assert.deepStrictEqual(yield* names, ["control-plane", "worker-2"])
    assert.strictEqual(yield* stand.wordOf("p"), "Running")
    assert.strictEqual((yield* Effect.flip(nodes.start("worker-1")))._tag, "UnknownMachine")
    yield* nodes.add("worker-1")
    yield* stand.pass("10 seconds")
    assert.deepStrictEqual(yield* names, ["control-plane", "worker-1", "worker-2"])
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a heartbeat on its way when the machine is taken away does not bring the node back", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    const server = yield* ApiServer
    const find = Effect.result(client.get(Node, { name: "worker-1" }))
    yield* stand.settle
    // A client deletes the node; the heartbeat that registers it anew is slow.
    yield* client.delete(Node, { name: "worker-1" })
    yield* server.setFaults([
      { match: { verb: "create", resource: "nodes" }, fault: { _tag: "Delay", millis: 5_000 }, times: 1 }
    ])
    yield* stand.pass("10 seconds")
    const removing = yield* Effect.forkChild(Effect.result(nodes.remove("worker-1")), { startImmediately: true })
    yield* stand.pass("1 hour")
    assert.isDefined(removing.pollUnsafe())
    assert.strictEqual((yield* find)._tag, "Failure")
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("a machine whose node cannot be deleted goes on running, and can be removed later", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const server = yield* ApiServer
    yield* server.setFaults([{ match: { verb: "delete", resource: "nodes" }, fault: { _tag: "Conflict" }, times: 1 }])
    assert.strictEqual((yield* Effect.flip(nodes.remove("worker-1")))._tag, "ApiError")
    const { isRunning } = (yield* nodes.machines).find(({ machine }) => machine.name === "worker-1")!
    assert.isTrue(isRunning)
    yield* stand.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* stand.pass("10 seconds")
    assert.strictEqual(yield* stand.wordOf("p"), "Running")
    yield* nodes.remove("worker-1")
    assert.notInclude(
      (yield* nodes.machines).map(({ machine }) => machine.name),
      "worker-1"
    )
  }).pipe(Effect.provide(stand.nodes()))
)

it.effect("pods of a lost machine are not run by anybody", () =>
  Effect.gen(function* () {
    const nodes = yield* Nodes.Nodes
    const client = yield* KubeClient
    yield* stand.create("p", { nodeName: "worker-1", containers: [{ name: "main", image: "x" }] })
    yield* stand.pass("10 seconds")
    yield* nodes.remove("worker-1")
    yield* stand.remove("p")
    yield* stand.pass("10 minutes")
    assert.isDefined((yield* client.get(Pod, { namespace: "default", name: "p" })).metadata.deletionTimestamp)
    assert.strictEqual((yield* Effect.flip(nodes.crash({ name: "p" })))._tag, "UnknownPod")
  }).pipe(Effect.provide(stand.nodes()))
)
