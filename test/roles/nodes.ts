/** Scenarios of failed nodes, their pods, and machines in a cloud: nodelifecycle, taint-eviction, cloud-node-lifecycle. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CloudNodeLifecycle from "../../src/controllers/CloudNodeLifecycle.ts"
import * as NodeLifecycle from "../../src/controllers/NodeLifecycle.ts"
import * as TaintEviction from "../../src/controllers/TaintEviction.ts"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { CloudProvider } from "../../src/layers/CloudProvider.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Harness from "../controllers/shared/nodes/harness.ts"
import * as Scenario from "./scenario.ts"

const drained = Effect.flatMap(Recorder, (recorder) => recorder.drained)

const lost = Scenario.make(
  "a node stops sending heartbeats, twice: its pods are marked as not ready, and it is tainted",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* Harness.readyNodes(["a", "well"])
    yield* Harness.runningPod("p", "a")
    yield* cluster.run(NodeLifecycle.make())
    // Another client writes to the node at the same time.
    const match = { verb: "update", resource: "nodes/status" } as const
    yield* (yield* ApiServer).setFaults([{ match, fault: { _tag: "Conflict" }, times: 1 }])
    for (const year of [2001, 2002]) {
      yield* cluster.advance("40 seconds")
      yield* Harness.renew("well", `${year}-01-01T00:00:00.000000Z`)
      yield* cluster.advance("30 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), ["unreachable:NoExecute", "unreachable:NoSchedule"])
      yield* Harness.report("a", "True", `${year}-01-01T00:00:00Z`)
      yield* Harness.renew("well", `${year}-02-01T00:00:00.000000Z`)
      yield* cluster.advance("10 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
    }
    const ready = (yield* Harness.getPod("p")).status?.conditions?.find(({ type }) => type === "Ready")
    assert.strictEqual(ready?.status, "False")
    const recorded = (yield* Harness.recordedEvents("node-controller", "a")).filter((one) =>
      one.startsWith("Normal NodeNotReady")
    )
    assert.lengthOf(recorded, 2)
  })
)

const evicted = Scenario.make(
  "pods of a tainted node are evicted, one of them only when the taint is added for the third time",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* Harness.createNode("a")
    const tolerations = [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 10 }]
    yield* Harness.runningPod("p", "a", { terminationGracePeriodSeconds: 0, tolerations })
    yield* cluster.run(TaintEviction.make())
    for (const seconds of [5, 5, 15]) {
      yield* Harness.patchNode("a", { spec: { taints: [{ key: "k", effect: "NoExecute" }] } })
      yield* cluster.advance(`${seconds} seconds`)
      yield* Harness.patchNode("a", { spec: { taints: [{ $patch: "replace" }] } })
      yield* cluster.advance("5 seconds")
    }
    assert.deepStrictEqual(yield* cluster.snapshot(Pod), [])
    const recorded = yield* Harness.recordedEvents("taint-eviction-controller")
    assert.lengthOf(recorded, 3)
  })
)

const machines = Scenario.make(
  "the node of a deleted machine is deleted, and the node of a machine that is shut down is tainted",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* Harness.createNode("gone")
    yield* Harness.createNode("off")
    yield* (yield* ApiServer).setFaults([
      { match: { verb: "delete" }, fault: { _tag: "Conflict" }, times: 1 },
      { match: { verb: "patch", resource: "nodes" }, fault: { _tag: "Conflict" }, times: 1 }
    ])
    yield* cluster.run(CloudNodeLifecycle.make())
    yield* cluster.advance("20 seconds")
    yield* drained
    assert.deepStrictEqual(
      (yield* cluster.snapshot(Node)).map(({ metadata }) => metadata.name),
      ["off"]
    )
    assert.lengthOf(yield* Harness.taintsOf("off"), 1)
    assert.lengthOf(yield* Harness.recordedEvents("cloud-node-lifecycle-controller"), 2)
  }).pipe(Effect.provide(CloudProvider.layerMemory((name) => (name === "off" ? { isShutDown: true } : undefined))))
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [lost, evicted, machines].flat()
