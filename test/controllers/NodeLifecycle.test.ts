/**
 * Nodes that are not ready or do not report: conditions, taints, events. What happens to their pods is in `shared/nodes/deadMachine.test.ts`.
 * Source: pkg/controller/nodelifecycle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import * as NodeLifecycle from "../../src/controllers/NodeLifecycle.ts"
import { Node } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./shared/nodes/harness.ts"

const run = Effect.flatMap(ClusterTest, (cluster) => cluster.run(NodeLifecycle.make()))

const advance = (time: `${number} seconds`) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

/** Lets this many seconds pass; the nodes renew their leases every five seconds. */
const renewing = (names: ReadonlyArray<string>, seconds: number) =>
  Effect.gen(function* () {
    for (let left = seconds; left > 0; left -= 5) {
      for (const name of names) yield* Harness.renew(name, `2001-01-01T00:${pad(left / 60)}:${pad(left % 60)}.000000Z`)
      yield* advance(`${Math.min(left, 5)} seconds`)
    }
  })

const pad = (number: number): string => String(Math.floor(number)).padStart(2, "0")

const onCluster = Effect.provide(ClusterTest.layer())

describe("a node that", () => {
  it.effect("has never reported is Unknown after one minute, not before", () =>
    Effect.gen(function* () {
      yield* Harness.createNode("mute")
      yield* run
      yield* advance("60 seconds")
      assert.deepStrictEqual(yield* Harness.conditionsOf("mute"), {})
      yield* advance("5 seconds")
      const conditions = yield* Harness.conditionsOf("mute")
      assert.deepStrictEqual(Object.keys(conditions), ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"])
      for (const one of Object.values(conditions)) {
        assert.deepInclude(one, {
          status: "Unknown",
          reason: "NodeStatusNeverUpdated",
          message: "Kubelet never posted node status.",
          lastHeartbeatTime: "1970-01-01T00:00:00Z",
          lastTransitionTime: "1970-01-01T00:01:05Z"
        })
      }
      // It was never ready, so there is no event NodeNotReady.
      assert.deepStrictEqual(yield* Harness.recordedEvents("node-controller"), [
        "Normal RegisteredNode Node mute event: Registered Node mute in Controller"
      ])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("stops reporting is Unknown after fifty seconds, with one event and one write", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["a", "well"])
      yield* Harness.runningPod("on-it", "a")
      yield* Harness.runningPod("elsewhere", "well")
      yield* run
      yield* renewing(["well"], 50)
      assert.strictEqual((yield* Harness.conditionsOf("a"))["Ready"]?.status, "True")
      yield* renewing(["well"], 10)
      assert.deepInclude((yield* Harness.conditionsOf("a"))["Ready"], {
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
        lastHeartbeatTime: "2000-01-01T00:00:00Z",
        lastTransitionTime: "1970-01-01T00:00:55Z"
      })
      assert.deepInclude((yield* Harness.getPod("on-it")).status?.conditions?.[0], {
        type: "Ready",
        status: "False",
        lastTransitionTime: "1970-01-01T00:00:55Z"
      })
      assert.strictEqual((yield* Harness.getPod("elsewhere")).status?.conditions?.[0]?.status, "True")
      assert.deepStrictEqual(yield* Harness.recordedEvents("node-controller", "on-it"), [
        "Warning NodeNotReady Node is not ready"
      ])
      assert.deepStrictEqual((yield* Harness.recordedEvents("node-controller", "a")).toSorted(), [
        "Normal NodeNotReady Node a status is now: NodeNotReady",
        "Normal RegisteredNode Node a event: Registered Node a in Controller"
      ])
      const { resourceVersion } = (yield* Harness.getNode("a")).metadata
      yield* renewing(["well"], 120)
      assert.strictEqual((yield* Harness.getNode("a")).metadata.resourceVersion, resourceVersion)
      assert.lengthOf(yield* Harness.recordedEvents("node-controller", "a"), 2)
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("renews its lease or posts its status stays ready, whatever the time of its clock", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["leased", "reporting", "silent"])
      yield* run
      for (const year of [2050, 1980, 2050, 1970]) {
        yield* Harness.renew("leased", `${year}-01-01T00:00:00.000000Z`)
        yield* Harness.report("reporting", "True", `${year}-01-01T00:00:00Z`)
        yield* advance("45 seconds")
      }
      for (const [name, status] of [
        ["leased", "True"],
        ["reporting", "True"],
        ["silent", "Unknown"]
      ] as const) {
        assert.strictEqual((yield* Harness.conditionsOf(name))["Ready"]?.status, status, name)
      }
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("is added or removed gets an event, and so does another node of its name", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* run
      yield* Harness.createNode("a")
      yield* advance("5 seconds")
      yield* client.delete(Node, { name: "a" })
      yield* Harness.createNode("a")
      yield* advance("5 seconds")
      yield* client.delete(Node, { name: "a" })
      yield* advance("5 seconds")
      assert.deepStrictEqual((yield* Harness.recordedEvents("node-controller")).toSorted(), [
        "Normal RegisteredNode Node a event: Registered Node a in Controller",
        "Normal RegisteredNode Node a event: Registered Node a in Controller",
        "Normal RemovingNode Node a event: Removing Node a from Controller",
        "Normal RemovingNode Node a event: Removing Node a from Controller"
      ])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("reports pressure gets a NoSchedule taint at once, and loses it when the pressure ends", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["a"], { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" })
      yield* run
      const say = (type: string, status: "True" | "False" | "Unknown") =>
        Harness.patchNode("a", { status: { conditions: [Harness.condition(type, status)] } }, "status")
      yield* say("MemoryPressure", "True")
      yield* say("DiskPressure", "True")
      yield* say("PIDPressure", "True")
      yield* say("NetworkUnavailable", "True")
      yield* Harness.patchNode("a", { spec: { unschedulable: true } })
      yield* advance("1 seconds")
      assert.deepStrictEqual(
        yield* Harness.taintsOf("a"),
        ["disk-pressure", "memory-pressure", "network-unavailable", "pid-pressure", "unschedulable"].map(
          (key) => `${key}:NoSchedule`
        )
      )
      const times = (yield* Harness.getNode("a")).spec?.taints?.map(({ timeAdded }) => timeAdded)
      assert.deepStrictEqual([...new Set(times)], ["1970-01-01T00:00:00Z"])
      const { labels } = (yield* Harness.getNode("a")).metadata
      assert.deepInclude(labels, { "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64" })
      for (const type of ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]) {
        yield* say(type, "False")
      }
      yield* Harness.patchNode("a", { spec: { unschedulable: null } })
      yield* advance("1 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("is not ready and then stops reporting changes its taint at once, and has none when it is ready", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["a", "b", "well"])
      yield* run
      yield* Harness.report("a", "False")
      yield* renewing(["well", "b"], 10)
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), ["not-ready:NoExecute", "not-ready:NoSchedule"])
      yield* renewing(["well", "b"], 55)
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), ["unreachable:NoExecute", "unreachable:NoSchedule"])
      yield* Harness.report("a", "True", "2000-01-01T00:10:00Z")
      yield* renewing(["well", "b"], 10)
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("is not ready gets its new pods marked as not ready too", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["a", "well"])
      yield* run
      yield* renewing(["well"], 60)
      yield* Harness.runningPod("late", "")
      yield* Harness.bind("late", "a")
      yield* advance("1 seconds")
      assert.strictEqual(
        (yield* Harness.getPod("late")).status?.conditions?.find(({ type }) => type === "Ready")?.status,
        "False"
      )
      assert.deepStrictEqual(yield* Harness.recordedEvents("node-controller", "late"), [
        "Warning NodeNotReady Node is not ready"
      ])
    }).pipe(Effect.scoped, onCluster)
  )
})

const names = (zone: string, count: number) => Array.from({ length: count }, (_, i) => `${zone}-${i}`)

const inZone = (zone: string, count: number) =>
  Harness.readyNodes(names(zone, count), { "topology.kubernetes.io/zone": zone })

describe("a zone", () => {
  it.effect("taints the first node at once and further ones ten seconds apart", () =>
    Effect.gen(function* () {
      yield* inZone("z", 6)
      yield* run
      const alive = names("z", 6).slice(2)
      yield* renewing(alive, 60)
      assert.lengthOf(yield* Harness.withNoExecuteTaint(names("z", 6)), 1)
      yield* renewing(alive, 10)
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint(names("z", 6)), ["z-0", "z-1"])
      const { spec } = yield* Harness.getNode("z-0")
      const taint = spec?.taints?.find(({ effect }) => effect === "NoExecute")
      assert.strictEqual(taint?.timeAdded, "1970-01-01T00:00:55Z")
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("that is small and partially disrupted evicts nothing; another zone continues", () =>
    Effect.gen(function* () {
      yield* inZone("ill", 5)
      yield* inZone("fine", 5)
      yield* run
      yield* renewing([...names("ill", 5).slice(3), ...names("fine", 5).slice(1)], 120)
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint(names("ill", 5)), [])
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint(names("fine", 5)), ["fine-0"])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("that is fully disrupted evicts at the normal rate while another zone is healthy", () =>
    Effect.gen(function* () {
      yield* inZone("down", 2)
      yield* inZone("fine", 1)
      yield* run
      yield* renewing(["fine-0"], 80)
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint(names("down", 2)), ["down-0", "down-1"])
      // Now no node is ready: the taints are removed.
      yield* advance("60 seconds")
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint([...names("down", 2), "fine-0"]), [])
    }).pipe(Effect.scoped, onCluster)
  )

  it.effect("ignores nodes with the label exclude-disruption", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["a"])
      yield* Harness.readyNodes(["extra"], { "node.kubernetes.io/exclude-disruption": "" })
      yield* run
      yield* renewing(["extra"], 90)
      // The only node that counts is not ready, so the zone is fully disrupted.
      assert.deepStrictEqual(yield* Harness.withNoExecuteTaint(["a", "extra"]), [])
    }).pipe(Effect.scoped, onCluster)
  )
})

/** The node metrics by name and zone; count and sum of histograms. */
const measured = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all.flatMap(({ attributes, id, state }) => {
      if (!id.startsWith("node_collector_")) return []
      const name = [id.slice("node_collector_".length), ...Object.values(attributes ?? {})].join(" ")
      return [
        [
          name,
          "sum" in state
            ? [state.count, state.sum]
            : "value" in state
              ? state.value
              : "count" in state
                ? state.count
                : 0
        ]
      ]
    })
  )
)

describe("the metrics of nodes", () => {
  it.effect("have the state of each zone, by region and zone; a deleted zone is healthy", () =>
    Effect.gen(function* () {
      const zone = { "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": "a" }
      yield* Harness.readyNodes(["one", "two", "three", "four"], zone)
      yield* run
      yield* renewing(["one", "two", "three"], 60)
      assert.deepInclude(yield* measured, {
        "zone_size eu:\0:a": 4,
        "unhealthy_nodes_in_zone eu:\0:a": 1,
        "zone_health eu:\0:a": 75,
        "evictions_total eu:\0:a": 1
      })
      const client = yield* KubeClient
      for (const name of ["one", "two", "three", "four"]) yield* client.delete(Node, { name })
      yield* advance("5 seconds")
      assert.deepInclude(yield* measured, {
        "zone_size eu:\0:a": 0,
        "unhealthy_nodes_in_zone eu:\0:a": 0,
        "zone_health eu:\0:a": 100
      })
    }).pipe(Effect.scoped, onCluster, Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("measure the check of a node and of all nodes", () =>
    Effect.gen(function* () {
      yield* Harness.readyNodes(["mute", "well"])
      yield* run
      yield* renewing(["well"], 50)
      const { update_all_nodes_health_duration_seconds: before } = yield* measured
      assert.deepStrictEqual(before, [11, 0])
      assert.deepInclude(yield* measured, { update_node_health_duration_seconds: [22, 0] })
      // The status update of the node that does not report takes two seconds.
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "update", path: "/api/v1/nodes/mute" }),
          fault: { _tag: "Delay", millis: 2000 },
          times: 1
        }
      ])
      yield* TestClock.adjust("8 seconds")
      const after = yield* measured
      assert.deepStrictEqual(after["update_all_nodes_health_duration_seconds"], [12, 2])
      assert.deepStrictEqual(after["update_node_health_duration_seconds"], [24, 2])
    }).pipe(Effect.scoped, onCluster, Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("nodelifecycle under fault injection", () => {
  for (const [what, fault] of [
    ["conflicts", { _tag: "Conflict" }],
    ["errors", { _tag: "Status", code: 500 }],
    ["lost responses", { _tag: "DropAnswer" }]
  ] as const) {
    it.effect(`marks a node as Unknown and taints it despite ${what}`, () =>
      Effect.gen(function* () {
        yield* Harness.readyNodes(["a", "well"])
        yield* Harness.runningPod("on-it", "a")
        yield* run
        yield* (yield* ApiServer).setFaults(
          (["update", "patch"] as const).map((verb) => ({
            match: (request) => Faults.on({ verb })(request) && !request.path.includes("/leases/"),
            fault,
            times: 4
          }))
        )
        yield* renewing(["well"], 90)
        assert.deepStrictEqual(yield* Harness.taintsOf("a"), ["unreachable:NoExecute", "unreachable:NoSchedule"])
        assert.strictEqual((yield* Harness.getPod("on-it")).status?.conditions?.[0]?.status, "False")
      }).pipe(Effect.scoped, onCluster)
    )
  }

  it.effect("marks the pods of a node whose status a stopped controller has written", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Harness.readyNodes(["a", "well"])
      yield* Harness.runningPod("on-it", "a")
      const first = yield* cluster.run(NodeLifecycle.make())
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "update", resource: "pods/status" }, fault: { _tag: "Status", code: 500 } }
      ])
      yield* renewing(["well"], 60)
      yield* first.stop()
      assert.strictEqual((yield* Harness.getPod("on-it")).status?.conditions?.[0]?.status, "True")
      yield* (yield* ApiServer).setFaults([])
      yield* cluster.run(NodeLifecycle.make())
      yield* renewing(["well"], 5)
      assert.strictEqual((yield* Harness.getPod("on-it")).status?.conditions?.[0]?.status, "False")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), ["unreachable:NoExecute", "unreachable:NoSchedule"])
    }).pipe(Effect.scoped, onCluster)
  )
})
