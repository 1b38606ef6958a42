/** A Service with topology-aware hints, and its metrics. Source: test/e2e/network/topology_hints.go of Kubernetes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as EndpointSliceController from "../../../src/controllers/EndpointSlice.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Node, Pod, Service } from "../../../src/kube/resources.ts"
import type * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Harness from "../shared/services/harness.ts"

const mode = "service.kubernetes.io/topology-mode"
const auto = { annotations: { [mode]: "Auto" } }
const zoneLabel = "topology.kubernetes.io/zone"

const settled = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(effect, () => Harness.settle)

const status = (cpu: string, ready: boolean) => ({
  status: { allocatable: { cpu }, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] }
})

const patchNode = (name: string, body: object, subresource?: string) =>
  settled(Effect.flatMap(KubeClient, (client) => client.patch(Node, { name, subresource }, Patch.merge(body))))

/** A ready node. */
const machine = (name: string, zone: string, cpu = "4", labels: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.andThen(
      client.create(Node, { metadata: { name, labels: { ...(zone === "" ? {} : { [zoneLabel]: zone }), ...labels } } }),
      () => patchNode(name, status(cpu, true), "status")
    )
  )

/** This many ready pods on the node. */
const pods = (node: string, count: number, from = 0) =>
  settled(
    Effect.forEach(
      Array.from({ length: count }, (_, i) => `${node}-${from + i}`),
      (name, i) =>
        Effect.andThen(Harness.pod(name, { nodeName: node }), () =>
          Harness.runs(name, [`10.${node.charCodeAt(0)}.0.${from + i}`])
        )
    )
  )

/** `east-east 3, east-west 1`: for each pair of zones, how many endpoints of the first serve the second. */
const hints = Effect.map(Harness.slices(), (slices) => {
  const counts = new Map<string, number>()
  for (const { zone, hints } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
    const pair = `${zone ?? "nowhere"}-${hints?.forZones?.map(({ name }) => name).join("+") ?? "any"}`
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  return [...counts]
    .map(([pair, count]) => `${pair} ${count}`)
    .toSorted()
    .join(", ")
})

/** The events about hints, each once. */
const recorded = Effect.map(Harness.events, (all) => [
  ...new Set(
    all.filter((one) => one.includes("TopologyAware")).map((one) => one.replace("endpoint-slice-controller: ", ""))
  )
])

const refused = (why: string) => `Warning TopologyAwareHintsDisabled ${why}, addressType: IPv4`
const enabled = "Normal TopologyAwareHintsEnabled Topology Aware Hints has been enabled, addressType: IPv4"
const unknown = refused("Insufficient Node information: allocatable CPU or zone not specified on one or more nodes")

type Body<A, E> = Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>

/** Two zones of equal size, and a node that does not count. */
const scenario = <A, E>(test: Body<A, E>) =>
  Harness.withLoop(
    Effect.andThen(Effect.andThen(machine("e", "east"), machine("w", "west")), () => test),
    { controllers: [EndpointSliceController.make()] }
  )

describe("a Service with topology-aware hints", () => {
  it.effect("keeps traffic in its zone where each zone has its share", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.expose({ publishNotReadyAddresses: true }, auto)
        yield* pods("e", 2)
        yield* pods("w", 2)
        assert.strictEqual(yield* hints, "east-east 2, west-west 2")
        assert.include(yield* recorded, enabled)
      })
    )
  )

  it.effect("serves another zone where the pods are, and returns to its own", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 5)
        yield* pods("w", 1)
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-east 3, east-west 2, west-west 1")
        yield* pods("w", 2, 1)
        assert.strictEqual(yield* hints, "east-east 4, east-west 1, west-west 3")
        yield* Harness.remove(Pod, "e-4", { gracePeriodSeconds: 0 })
        yield* Harness.remove(Pod, "e-3", { gracePeriodSeconds: 0 })
        assert.strictEqual(yield* hints, "east-east 3, west-west 3")
        assert.deepStrictEqual(yield* recorded, [enabled])
      })
    )
  )

  it.effect("divides by CPU, and again when that changes", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 4)
        yield* pods("w", 4)
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-east 4, west-west 4")
        const calls = yield* Harness.recording()
        yield* patchNode("e", status("5", true), "status")
        // Within the threshold, so nothing is written.
        assert.lengthOf(calls, 0)
        yield* patchNode("e", status("12", true), "status")
        assert.strictEqual(yield* hints, "east-east 4, west-east 2, west-west 2")
        assert.lengthOf(calls, 1)
        yield* patchNode("e", { metadata: { annotations: { heartbeat: "1" } } })
        yield* Harness.advance("1 hour")
        assert.lengthOf(calls, 1)
      })
    )
  )

  it.effect("has no hints with fewer endpoints than zones, with an event", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 1)
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-any 1")
        assert.deepStrictEqual(yield* recorded, [refused("Insufficient number of endpoints (1 endpoints, 2 zones)")])
        yield* pods("w", 1)
        assert.strictEqual(yield* hints, "east-east 1, west-west 1")
      })
    )
  )

  it.effect("has no hints where an endpoint would be overloaded, with an event", () =>
    scenario(
      Effect.gen(function* () {
        yield* machine("n", "north", "1")
        yield* pods("e", 3)
        yield* pods("w", 1)
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-any 3, west-any 1")
        const why =
          "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)"
        assert.deepStrictEqual(yield* recorded, [refused(why)])
      })
    )
  )

  it.effect("has no hints while a node's zone or CPU is unknown, and has them again afterwards", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 2)
        yield* pods("w", 2)
        yield* Harness.expose({}, auto)
        yield* machine("x", "", "500m")
        assert.strictEqual(yield* hints, "east-any 2, west-any 2")
        assert.sameMembers([...(yield* recorded)], [enabled, unknown])
        yield* patchNode("x", { metadata: { labels: { [zoneLabel]: "west" } } })
        assert.strictEqual(yield* hints, "east-east 2, west-west 2")
        yield* patchNode("x", status("0", true), "status")
        assert.strictEqual(yield* hints, "east-any 2, west-any 2")
        yield* patchNode("x", status("0", false), "status")
        assert.strictEqual(yield* hints, "east-east 2, west-west 2")
        yield* machine("c", "", "4", { "node-role.kubernetes.io/control-plane": "" })
        yield* machine("m", "", "4", { "node-role.kubernetes.io/master": "" })
        assert.strictEqual(yield* hints, "east-east 2, west-west 2")
        yield* Effect.flatMap(KubeClient, (client) => client.delete(Node, { name: "w" }))
        yield* Harness.settle
        assert.notInclude(yield* hints, "east-east")
      })
    )
  )

  it.effect("has no hints if an endpoint has no zone, with an event", () =>
    scenario(
      Effect.gen(function* () {
        yield* Harness.node("lost")
        yield* pods("e", 3)
        yield* pods("w", 2)
        yield* Harness.pod("web", { nodeName: "lost" })
        yield* Harness.runs("web", ["10.9.0.1"])
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-any 3, nowhere-any 1, west-any 2")
        assert.deepStrictEqual(yield* recorded, [refused("One or more endpoints do not have a zone specified")])
      })
    )
  )

  it.effect("loses them without the annotation, with an event; pods that are not ready never have any", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 2)
        yield* pods("w", 3)
        yield* Harness.runs("w-2", ["10.8.0.9"], false)
        yield* Harness.expose({}, auto)
        assert.strictEqual(yield* hints, "east-east 2, west-any 1, west-west 2")
        yield* Harness.patch(Service, "web", { metadata: { annotations: { [mode]: "Disabled" } } })
        assert.strictEqual(yield* hints, "east-any 2, west-any 3")
        assert.deepStrictEqual(yield* recorded, [enabled, refused("Topology Aware Hints has been disabled")])
        const old = "service.kubernetes.io/topology-aware-hints"
        yield* Harness.patch(Service, "web", { metadata: { annotations: { [old]: "auto" } } })
        assert.strictEqual(yield* hints, "east-east 2, west-any 1, west-west 2")
      })
    )
  )

  it.effect("has new hints as soon as the CPU of a node changes", () =>
    scenario(
      Effect.gen(function* () {
        yield* pods("e", 4)
        yield* pods("w", 4)
        yield* Harness.expose({}, auto)
        yield* patchNode("e", status("12", true), "status")
        assert.strictEqual(yield* hints, "east-east 4, west-east 2, west-west 2")
      })
    )
  )
})

it.effect("a Service with topology-aware hints and no endpoints is synced, although its slice has null for them", () =>
  Harness.withLoop(
    Effect.gen(function* () {
      yield* Harness.expose({}, auto)
      yield* Harness.patch(Service, "web", { metadata: { annotations: { note: "another sync" } } })
      yield* Harness.settle
      const [slice] = yield* Harness.slices()
      assert.isNull(slice?.endpoints)
      const panics = (yield* Metric.snapshot).find(({ id }) => id === "controller_runtime_reconcile_panics_total")
      assert.deepInclude(panics?.state, { count: 0 })
    }),
    { controllers: [EndpointSliceController.make()] }
  ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)

it.effect("the slices' totals are in the metrics", () =>
  Harness.withLoop(
    Effect.gen(function* () {
      const numbers = Effect.map(Metric.snapshot, (all) =>
        Object.fromEntries(
          all.flatMap(({ id, state }) => {
            const { sum, value } = state as { readonly sum?: number; readonly value?: number }
            return id.startsWith("endpoint_slice_controller_")
              ? [[id.replace("endpoint_slice_controller_", ""), sum ?? value]]
              : []
          })
        )
      )
      yield* Harness.crowd(7)
      yield* Harness.expose()
      yield* Harness.expose({ selector: { app: "nobody" } }, { name: "empty" })
      const first = yield* numbers
      assert.deepInclude(first, { endpoints_added_per_sync: 7, endpoints_removed_per_sync: 0 })
      assert.deepInclude(first, { endpoints_desired: 7, num_endpoint_slices: 4, desired_endpoint_slices: 4 })
      for (const i of [0, 3, 6]) yield* Harness.remove(Pod, `web-${i}`, { gracePeriodSeconds: 0 })
      const second = yield* numbers
      assert.deepInclude(second, { endpoints_added_per_sync: 7, endpoints_removed_per_sync: 3 })
      assert.deepInclude(second, { endpoints_desired: 4, num_endpoint_slices: 3, desired_endpoint_slices: 3 })
      yield* Harness.remove(Service, "web")
      assert.deepInclude(yield* numbers, { endpoints_desired: 0, num_endpoint_slices: 1, desired_endpoint_slices: 1 })
      yield* Harness.patch(Service, "empty", { spec: { selector: null } })
      assert.deepInclude(yield* numbers, { endpoints_desired: 0, num_endpoint_slices: 0, desired_endpoint_slices: 0 })
    }),
    { controllers: [EndpointSliceController.make({ maxEndpointsPerSlice: 3 })] }
  ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)
