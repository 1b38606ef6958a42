/** The cloud-node-lifecycle controller on the embedded API server: nodes whose machines are gone or shut down. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CloudNodeLifecycle from "../../src/controllers/CloudNodeLifecycle.ts"
import { Node } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { CloudError, CloudProvider, type Machine } from "../../src/layers/CloudProvider.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import * as Harness from "./shared/nodes/harness.ts"

const names = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Node), (nodes) => nodes.map(({ metadata }) => metadata.name))
)

const shutdown = "node.cloudprovider.kubernetes.io/shutdown:NoSchedule"

const cloud = (machines: Map<string, Machine>) =>
  Effect.provide(CloudProvider.layerMemory((name) => machines.get(name)))

const run = Effect.flatMap(ClusterTest, (cluster) => cluster.run(CloudNodeLifecycle.make()))

const advance = (time: `${number} seconds`) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

describe("cloud-node-lifecycle", () => {
  it.effect("deletes a node that is not ready and has no machine, and records an event", () => {
    const machines = new Map<string, Machine>([["there", {}]])
    return Effect.gen(function* () {
      yield* Harness.readyNodes(["gone", "there", "fresh"])
      yield* Harness.patchNode("fresh", {
        spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }] }
      })
      yield* run
      // The cloud provider is not asked about ready nodes, not even uninitialised ones.
      assert.deepStrictEqual(yield* names, ["fresh", "gone", "there"])
      yield* Harness.report("gone", "Unknown")
      yield* Harness.report("there", "False")
      yield* advance("5 seconds")
      assert.deepStrictEqual(yield* names, ["fresh", "there"])
      assert.deepStrictEqual(yield* Harness.recordedEvents("cloud-node-lifecycle-controller", "gone"), [
        "Normal DeletingNode Deleting node gone because it does not exist in the cloud provider"
      ])
    }).pipe(Effect.scoped, cloud(machines), Effect.provide(ClusterTest.layer()))
  })

  it.effect("records an event when the server refuses to delete a node, and retries", () =>
    Effect.gen(function* () {
      yield* Harness.createNode("gone")
      yield* (yield* ApiServer).setFaults([
        {
          match: { verb: "delete", resource: "nodes" },
          fault: { _tag: "Status", code: 403, message: "not while it is in use" },
          times: 1
        }
      ])
      yield* run
      const deleting = "Normal DeletingNode Deleting node gone because it does not exist in the cloud provider"
      assert.deepStrictEqual(yield* Harness.recordedEvents("cloud-node-lifecycle-controller", "gone"), [
        deleting,
        "Warning DeletingNodeFailed Failed deleting node gone: not while it is in use"
      ])
      assert.deepStrictEqual(yield* names, ["gone"])
      yield* advance("5 seconds")
      assert.deepStrictEqual(yield* names, [])
    }).pipe(Effect.scoped, cloud(new Map()), Effect.provide(ClusterTest.layer()))
  )

  it.effect("taints a node whose machine is shut down, until the node is ready again", () => {
    const machines = new Map<string, Machine>([["a", {}]])
    return Effect.gen(function* () {
      yield* Harness.readyNodes(["a"])
      yield* run
      machines.set("a", { isShutDown: true })
      yield* advance("5 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
      yield* Harness.report("a", "Unknown")
      yield* advance("5 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [shutdown])
      const { resourceVersion } = (yield* Harness.getNode("a")).metadata
      machines.set("a", {})
      yield* advance("60 seconds")
      assert.strictEqual((yield* Harness.getNode("a")).metadata.resourceVersion, resourceVersion)
      yield* Harness.report("a", "True")
      yield* advance("5 seconds")
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
    }).pipe(Effect.scoped, cloud(machines), Effect.provide(ClusterTest.layer()))
  })

  it.effect("does nothing while the cloud provider fails", () => {
    const ask = Effect.fail(new CloudError({ message: "the cloud does not answer" }))
    const failing = Effect.provideService(
      CloudProvider,
      CloudProvider.of({ name: "silent", exists: () => ask, isShutDown: () => ask, metadata: () => ask })
    )
    return Effect.gen(function* () {
      yield* Harness.createNode("a")
      yield* run
      yield* advance("60 seconds")
      assert.deepStrictEqual(yield* names, ["a"])
      assert.deepStrictEqual(yield* Harness.taintsOf("a"), [])
    }).pipe(Effect.scoped, failing, Effect.provide(ClusterTest.layer()))
  })

  it.effect("converges under injected faults", () => {
    const machines = new Map<string, Machine>([["off", { isShutDown: true }]])
    return Effect.gen(function* () {
      yield* Harness.createNode("gone")
      yield* Harness.createNode("off")
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "delete" }, fault: { _tag: "Status", code: 500 }, times: 2 },
        { match: { verb: "delete" }, fault: { _tag: "DropAnswer" }, times: 3 },
        { match: { verb: "patch", resource: "nodes" }, fault: { _tag: "Conflict" }, times: 2 },
        { match: { verb: "patch", resource: "nodes" }, fault: { _tag: "DropAnswer" }, times: 3 }
      ])
      yield* run
      yield* advance("60 seconds")
      assert.deepStrictEqual(yield* names, ["off"])
      assert.deepStrictEqual(yield* Harness.taintsOf("off"), [shutdown])
    }).pipe(Effect.scoped, cloud(machines), Effect.provide(ClusterTest.layer()))
  })
})
