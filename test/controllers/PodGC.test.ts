/** podgc on the embedded API server with simulated nodes. Source: pkg/controller/podgc: gc. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as Cluster from "../support/cluster.ts"

const namespace = "default"

const create = (name: string, spec?: object, metadata?: object) => Cluster.createPod(name, namespace, spec, metadata)

/** The spec of a pod that ends at once with this exit code. */
const ending = (code: number) => ({
  restartPolicy: "Never",
  containers: [{ name: "main", image: "x", command: ["exit", String(code)] }]
})

const withFinalizer = { finalizers: ["example.test/held"] }

const names = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Pod), (pods) => pods.map(({ metadata }) => metadata.name))
)

/** Asserts that the pod `lost` is deleted after this time, and not one second earlier. */
const isDeletedAfter = Effect.fnUntraced(function* (seconds: number) {
  yield* Cluster.advance(`${seconds - 1} seconds`)
  assert.deepStrictEqual(yield* names, ["lost"])
  yield* Cluster.advance("1 second")
  assert.deepStrictEqual(yield* names, [])
})

const get = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Pod, { namespace, name }))

const setNode = (name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) => client.patch(Node, { name, subresource }, Patch.strategic(body)))

const setReady = (name: string, status: string) =>
  setNode(name, { status: { conditions: [{ type: "Ready", status }] } }, "status")

const outOfService = {
  spec: { taints: [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }] }
}

describe("podgc", () => {
  it.effect("deletes the pods of a missing node after forty seconds, and no others", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* create("lost", { nodeName: "worker-1" })
      yield* create("safe", { nodeName: "worker-2" })
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("10 seconds")
      yield* nodes.remove("worker-1")
      // The node is missing in the runs at 20, 40 and 60 seconds.
      yield* cluster.advance("49 seconds")
      assert.deepStrictEqual(yield* names, ["lost", "safe"])
      yield* cluster.advance("1 seconds")
      assert.deepStrictEqual(yield* names, ["safe"])
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(yield* names, ["safe"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )

  it.effect("marks pods as Failed with DisruptionTarget first; terminated pods keep their status", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* create("running", { nodeName: "worker-1" }, withFinalizer)
      yield* create("done", { nodeName: "worker-1", ...ending(0) }, withFinalizer)
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("10 seconds")
      yield* nodes.remove("worker-1")
      yield* cluster.advance("1 minute")
      const running = yield* get("running")
      assert.deepInclude(running.metadata, { deletionGracePeriodSeconds: 0 })
      assert.strictEqual(running.status?.phase, "Failed")
      assert.deepInclude(
        running.status?.conditions?.find(({ type }) => type === "DisruptionTarget"),
        {
          status: "True",
          reason: "DeletionByPodGC",
          message: "PodGC: node no longer exists",
          lastTransitionTime: "1970-01-01T00:01:00Z"
        }
      )
      const done = yield* get("done")
      assert.isDefined(done.metadata.deletionTimestamp)
      assert.strictEqual(done.status?.phase, "Succeeded")
      assert.isUndefined(done.status?.conditions?.find(({ type }) => type === "DisruptionTarget"))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("keeps the pods of a node that the server has and the cache does not", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      // The watch delivers the two nodes, then stalls.
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "watch", resource: "nodes" }),
          fault: { _tag: "CutWatch", after: 3, how: "silence" },
          times: 1
        }
      ])
      yield* cluster.run(PodGC.make())
      yield* nodes.add("late")
      yield* create("p", { nodeName: "late" })
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual(yield* names, ["p"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("keeps the pods while the node cannot be read, and retries after forty seconds", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* create("lost", { nodeName: "worker-1" })
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("10 seconds")
      yield* (yield* ApiServer).setFaults([
        { match: Faults.on({ verb: "get", resource: "nodes" }), fault: { _tag: "Status", code: 403 }, times: 1 }
      ])
      yield* nodes.remove("worker-1")
      yield* isDeletedAfter(90)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("waits another forty seconds after a restart", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* create("lost", { nodeName: "worker-1" })
      const first = yield* cluster.run(PodGC.make())
      yield* nodes.remove("worker-1")
      yield* cluster.advance("39 seconds")
      yield* first.stop()
      yield* cluster.run(PodGC.make())
      yield* isDeletedAfter(40)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("deletes terminated pods above the threshold: evicted ones first, then the oldest, then by name", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* create("old", ending(0))
      yield* cluster.advance("2 seconds")
      for (const name of ["c", "a", "b"]) yield* create(name, ending(1))
      yield* create("alive")
      yield* cluster.advance("2 seconds")
      yield* create("evicted")
      yield* cluster.advance("5 seconds")
      yield* nodes.evict({ name: "evicted" })
      yield* cluster.settle
      yield* cluster.run(PodGC.make({ terminatedPodThreshold: 2 }))
      yield* cluster.settle
      assert.deepStrictEqual(yield* names, ["alive", "b", "c"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )

  it.effect("keeps all terminated pods with a threshold of 0, and 12500 by default", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      for (const name of ["a", "b"]) yield* create(name, ending(0))
      yield* cluster.advance("10 seconds")
      yield* cluster.run(PodGC.make({ terminatedPodThreshold: 0 }))
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("deletes terminating pods on a node that has the out-of-service taint and is not ready", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      const client = yield* KubeClient
      yield* create("deleted", { nodeName: "worker-1" }, withFinalizer)
      yield* create("kept", { nodeName: "worker-1", tolerations: [{ operator: "Exists" }] })
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("10 seconds")
      yield* nodes.stop("worker-1")
      yield* client.delete(Pod, { namespace, name: "deleted" })
      yield* setNode("worker-1", outOfService)
      yield* cluster.advance("1 minute")
      assert.strictEqual((yield* get("deleted")).status?.phase, "Running")
      yield* setReady("worker-1", "Unknown")
      yield* cluster.advance("20 seconds")
      const { metadata, status } = yield* get("deleted")
      assert.deepStrictEqual([status?.phase, metadata.deletionGracePeriodSeconds], ["Failed", 0])
      assert.isUndefined(status?.conditions?.find(({ type }) => type === "DisruptionTarget"))
      assert.strictEqual((yield* get("kept")).status?.phase, "Running")
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("deletes terminating unscheduled pods once, and does not remove their finalizers", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* create("deleted", {}, withFinalizer)
      yield* create("waiting")
      yield* client.delete(Pod, { namespace, name: "deleted" })
      yield* cluster.run(PodGC.make())
      yield* cluster.settle
      assert.strictEqual((yield* get("deleted")).status?.phase, "Failed")
      assert.isTrue(yield* Cluster.isIdle("10 minutes"))
      yield* client.patch(Pod, { namespace, name: "deleted" }, Patch.merge({ metadata: { finalizers: null } }))
      yield* cluster.advance("20 seconds")
      assert.deepStrictEqual(yield* names, ["waiting"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("retries failed deletions, without delaying other pods", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      for (const name of ["a", "b", "c"]) {
        yield* create(name, {}, withFinalizer)
        yield* client.delete(Pod, { namespace, name })
      }
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "patch", path: "/api/v1/namespaces/default/pods/a" }),
          fault: { _tag: "Status", code: 403 },
          times: 1
        },
        {
          match: Faults.on({ verb: "patch", path: "/api/v1/namespaces/default/pods/b" }),
          fault: { _tag: "Conflict" },
          times: 1
        }
      ])
      yield* cluster.run(PodGC.make())
      const phases = Effect.map(cluster.snapshot(Pod), (pods) => pods.map(({ status }) => status?.phase))
      yield* cluster.settle
      assert.deepStrictEqual(yield* phases, ["Pending", "Pending", "Failed"])
      yield* cluster.advance("20 seconds")
      assert.deepStrictEqual(yield* phases, ["Failed", "Failed", "Failed"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("deletes pods although the server forbids the status patch, as servers before 1.25 do", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      for (const name of ["p", "q"]) yield* create(name, { nodeName: "gone" })
      const forbidden = { _tag: "Status", code: 403 } as const
      yield* (yield* ApiServer).setFaults([{ match: Faults.on({ verb: "patch" }), fault: forbidden }])
      yield* cluster.run(PodGC.make())
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* names, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("never changes a new pod with the name of a cached one", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* create("p", { nodeName: "gone" })
      // The watch delivers the pod and the bookmark after the first state, then stalls.
      yield* (yield* ApiServer).setFaults([
        { match: Faults.on({ verb: "watch", resource: "pods" }), fault: { _tag: "CutWatch", after: 2, how: "silence" } }
      ])
      yield* cluster.run(PodGC.make())
      yield* cluster.settle
      yield* client.delete(Pod, { namespace, name: "p" }, { gracePeriodSeconds: 0 })
      const { metadata } = yield* create("p", { nodeName: "gone" })
      yield* cluster.advance("50 seconds")
      const found = yield* get("p")
      assert.deepStrictEqual([found.metadata.uid, found.status?.phase], [metadata.uid, "Pending"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("writes nothing while there is nothing to delete", () =>
    Effect.gen(function* () {
      yield* create("p")
      yield* (yield* ClusterTest).run(PodGC.make())
      assert.isTrue(yield* Cluster.isIdle("1 day"))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("counts deletions and failures by namespace and reason", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const nodes = yield* Nodes.Nodes
      yield* create("ended", ending(0))
      yield* create("lost", { nodeName: "worker-3" })
      yield* create("unscheduled", { nodeSelector: { missing: "label" } }, withFinalizer)
      yield* create("out", { nodeName: "worker-2" }, withFinalizer)
      yield* cluster.advance("10 seconds")
      yield* client.delete(Pod, { namespace, name: "unscheduled" })
      yield* nodes.stop("worker-2")
      yield* client.delete(Pod, { namespace, name: "out" })
      yield* setNode("worker-2", outOfService)
      yield* setReady("worker-2", "Unknown")
      yield* nodes.remove("worker-3")
      yield* create("ended-too", { ...ending(0), nodeName: "worker-1" })
      yield* cluster.advance("10 seconds")
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "delete", path: "/api/v1/namespaces/default/pods/lost" }),
          fault: { _tag: "Status", code: 403 },
          times: 1
        }
      ])
      yield* cluster.run(PodGC.make({ terminatedPodThreshold: 1 }))
      yield* cluster.advance("2 minutes")
      const counted = (name: string) =>
        Effect.map(Metric.snapshot, (all) =>
          Object.fromEntries(
            all.flatMap(({ attributes, id, state }) =>
              id === `pod_gc_collector_${name}` && "count" in state
                ? [[`${attributes?.["namespace"]} ${attributes?.["reason"]}`, state.count]]
                : []
            )
          )
        )
      assert.deepStrictEqual(yield* counted("force_delete_pods_total"), {
        // The pod `lost` was marked as failed, so in the next run it is one of the terminated pods above the threshold.
        "default terminated": 2,
        "default out-of-service": 1,
        "default orphaned": 1,
        "default unscheduled": 1
      })
      assert.deepStrictEqual(yield* counted("force_delete_pod_errors_total"), { "default orphaned": 1 })
    }).pipe(
      Effect.scoped,
      Effect.provide(ClusterTest.layer({ nodes: 4 })),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
})
