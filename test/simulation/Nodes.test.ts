import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Event, Lease, Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as demo from "../../src/simulation/demo.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as harness from "./harness.ts"

const clients = Cache.layer().pipe(
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer())
)

const nodes = Nodes.layer().pipe(Layer.provideMerge(clients))

const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }], ...spec }
})

/** Waits, without advancing the clock, until the pod meets the condition. */
const until = (name: string, wanted: (pod: Pod) => boolean) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(Pod).pipe(
      Stream.filter(({ _tag, object }) => _tag !== "Deleted" && object.metadata.name === name && wanted(object)),
      Stream.runHead
    )
  )

const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type)

it.effect("the nodes are registered and ready when the layer is built", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const { items } = yield* client.list(Node)
    assert.deepStrictEqual(
      items.map((node) => [node.metadata.name, node.status?.conditions?.find(({ type }) => type === "Ready")?.status]),
      [
        ["control-plane", "True"],
        ["worker-1", "True"],
        ["worker-2", "True"]
      ]
    )
    const master = items[0]!
    assert.strictEqual(master.metadata.labels?.["node-role.kubernetes.io/control-plane"], "")
    assert.deepStrictEqual(master.spec?.taints, [
      { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }
    ])
  }).pipe(Effect.provide(nodes))
)

it.effect("a pod is bound, started after the delay, and removed after a graceful stop", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* client.create(Pod, pod("a"))
    yield* until("a", (pod) => pod.status?.startTime !== undefined)
    const starting = yield* client.get(Pod, { namespace: "default", name: "a" })
    assert.include(["worker-1", "worker-2"], starting.spec?.nodeName)
    assert.strictEqual(starting.status?.phase, "Pending")
    assert.strictEqual(starting.status?.containerStatuses?.[0]?.state?.waiting?.reason, "ContainerCreating")
    assert.strictEqual(condition(starting, "PodScheduled")?.status, "True")

    yield* TestClock.adjust("999 millis")
    assert.strictEqual((yield* client.get(Pod, { namespace: "default", name: "a" })).status?.phase, "Pending")
    yield* TestClock.adjust("1 millis")
    yield* until("a", (pod) => pod.status?.phase === "Running")
    const running = yield* client.get(Pod, { namespace: "default", name: "a" })
    assert.match(running.status?.podIP ?? "", /^10\.244\.[23]\.2$/)
    assert.match(running.status?.hostIP ?? "", /^10\.0\.0\.[23]$/)
    assert.deepStrictEqual(
      [condition(running, "Ready")?.status, condition(running, "Ready")?.lastTransitionTime],
      ["True", "1970-01-01T00:00:01Z"]
    )
    assert.strictEqual(condition(running, "Initialized")?.lastTransitionTime, "1970-01-01T00:00:00Z")
    assert.isDefined(running.status?.containerStatuses?.[0]?.state?.running)

    yield* client.delete(Pod, { namespace: "default", name: "a" })
    yield* until("a", (pod) => pod.metadata.deletionTimestamp !== undefined)
    yield* TestClock.adjust("1 seconds")
    const error = yield* Effect.flip(client.get(Pod, { namespace: "default", name: "a" }))
    assert.strictEqual(error.reason._tag, "NotFound")
  }).pipe(Effect.provide(nodes))
)

it.effect("every pod has its own address, and pods are spread over the workers", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const names = Array.from({ length: 10 }, (_, i) => `p${i}`)
    yield* Effect.forEach(names, (name) => client.create(Pod, pod(name)), { discard: true })
    yield* Effect.forEach(names, (name) => until(name, (pod) => pod.status?.startTime !== undefined), { discard: true })
    yield* TestClock.adjust("1 seconds")
    yield* Effect.forEach(names, (name) => until(name, (pod) => pod.status?.phase === "Running"), { discard: true })
    const { items } = yield* client.list(Pod)
    assert.strictEqual(new Set(items.map((pod) => pod.status?.podIP)).size, 10)
    assert.strictEqual(items.filter((pod) => pod.spec?.nodeName === "worker-1").length, 5)
    assert.strictEqual(items.filter((pod) => pod.spec?.nodeName === "worker-2").length, 5)
  }).pipe(Effect.provide(nodes))
)

it.effect("a pod that does not fit gets the reason, and is bound when room is made", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const large = { containers: [{ name: "main", image: "x", resources: { requests: { cpu: "3" } } }] }
    for (const name of ["a", "b"]) {
      yield* client.create(Pod, pod(name, large))
      yield* until(name, (pod) => pod.spec?.nodeName !== undefined)
    }
    yield* client.create(Pod, pod("c", large))
    yield* until("c", (pod) => condition(pod, "PodScheduled")?.reason === "Unschedulable")
    const waiting = yield* client.get(Pod, { namespace: "default", name: "c" })
    assert.strictEqual(
      condition(waiting, "PodScheduled")?.message,
      "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu."
    )
    yield* client.delete(Pod, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 })
    yield* until("c", (pod) => pod.spec?.nodeName !== undefined)
  }).pipe(Effect.provide(nodes))
)

it.effect("leases are renewed every ten seconds and the Ready condition every five minutes", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const renewed = Effect.map(
      client.get(Lease, { namespace: "kube-node-lease", name: "worker-1" }),
      (lease) => lease.spec?.renewTime
    )
    const heartbeat = Effect.map(
      client.get(Node, { name: "worker-1" }),
      (node) => node.status?.conditions?.find(({ type }) => type === "Ready")?.lastHeartbeatTime
    )
    yield* TestClock.adjust("9 seconds")
    assert.strictEqual(yield* renewed, "1970-01-01T00:00:00.000000Z")
    yield* TestClock.adjust("1 seconds")
    assert.strictEqual(yield* renewed, "1970-01-01T00:00:10.000000Z")
    assert.strictEqual(yield* heartbeat, "1970-01-01T00:00:00Z")
    yield* TestClock.adjust("290 seconds")
    assert.strictEqual(yield* renewed, "1970-01-01T00:05:00.000000Z")
    assert.strictEqual(yield* heartbeat, "1970-01-01T00:05:00Z")
  }).pipe(Effect.provide(nodes))
)

it.effect("a deleted node is registered again", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* client.delete(Node, { name: "worker-2" })
    yield* TestClock.adjust("5 minutes")
    assert.strictEqual((yield* client.get(Node, { name: "worker-2" })).metadata.name, "worker-2")
  }).pipe(Effect.provide(nodes))
)

it.effect("nodes and pods of an earlier run are taken over", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const run = Layer.unwrap(Effect.as(demo.seed({ demo: "web", nodes: 3 }), Nodes.layer()))
    yield* until("dns-1", (pod) => pod.status?.startTime !== undefined).pipe(Effect.provide(run), Effect.scoped)
    yield* Effect.gen(function* () {
      yield* until("dns-1", (pod) => pod.status?.startTime !== undefined)
      yield* TestClock.adjust("1 seconds")
      yield* until("dns-1", (pod) => pod.status?.phase === "Running")
    }).pipe(Effect.provide(Layer.fresh(run)), Effect.scoped)
    assert.strictEqual((yield* client.list(Pod)).items.length, 2)
  }).pipe(Effect.provide(clients))
)

/** Runs many pods for a while, and returns all nodes, pods and events as text. */
const busy = Effect.gen(function* () {
  const server = yield* ApiServer
  const all = yield* Nodes.Nodes
  for (let i = 0; i < 30; i++) {
    const command = [["server"], ["sleep", "40"], ["false"]][i % 3]
    yield* harness.create(`p${i}`, { containers: [{ name: "main", image: i % 7 === 0 ? "x:404" : "x", command }] })
  }
  yield* harness.pass("10 minutes")
  yield* all.stop("worker-1")
  for (let i = 0; i < 10; i++) yield* harness.remove(`p${i}`)
  yield* harness.pass("10 minutes")
  yield* all.start("worker-1")
  yield* harness.pass("5 minutes")
  const left = yield* Effect.forEach([Pod, Event, Lease, Node], (resource) => server.snapshot(resource))
  return JSON.stringify([yield* server.revision, left])
})

it.effect("two runs with the same seed are equal byte by byte", () =>
  Effect.gen(function* () {
    // With a clock that does not warn about the sleeping fibers of a slow computer.
    const cluster = harness.nodes().pipe(Layer.provideMerge(TestClock.layer({ warningDelay: "1 hour" })), Layer.fresh)
    const once = busy.pipe(Effect.provide(cluster), Random.withSeed("nodes"))
    const first = yield* once
    assert.include(first, "CrashLoopBackOff")
    assert.include(first, "ImagePullBackOff")
    assert.strictEqual(yield* once, first)
  })
)

it.effect("a machine that replaces another counts the pods that are bound to its node", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    const spec = (nodeName: string) => ({
      nodeName,
      containers: [{ name: "main", image: "x", resources: { requests: { cpu: "3" } } }]
    })
    yield* harness.create("first", spec("worker-1"))
    yield* harness.pass("2 seconds")
    yield* all.add("worker-1")
    yield* harness.create("second", spec("worker-1"))
    yield* harness.pass("2 seconds")
    assert.strictEqual(yield* harness.wordOf("first"), "Running")
    assert.deepInclude((yield* harness.get("second")).status, { phase: "Failed", reason: "OutOfcpu" })
  }).pipe(Effect.provide(harness.nodes()))
)
