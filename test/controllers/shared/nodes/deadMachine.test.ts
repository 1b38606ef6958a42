/**
 * A node stops reporting, with the node controllers and the workload controllers running: taints, evictions and replacements by the second; and the
 * same node when it recovers.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as DeploymentController from "../../../../src/controllers/Deployment.ts"
import * as NodeLifecycle from "../../../../src/controllers/NodeLifecycle.ts"
import * as ReplicaSetController from "../../../../src/controllers/ReplicaSet.ts"
import * as TaintEviction from "../../../../src/controllers/TaintEviction.ts"
import { Deployment, Event, Node, Pod } from "../../../../src/kube/resources.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../../src/simulation/Nodes.ts"
import { Recorder } from "../../../../src/layers/Recorder.ts"

const web = {
  metadata: { namespace: "default", name: "web" },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "example.test/web:1" }] }
    }
  }
}

const begun = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  for (const one of [
    DeploymentController.make(),
    ReplicaSetController.make(),
    NodeLifecycle.make(),
    TaintEviction.make()
  ]) {
    yield* cluster.run(one)
  }
  yield* (yield* KubeClient).create(Deployment, web)
  yield* cluster.advance("1 minute")
})

const podsOn = (node: string) =>
  Effect.gen(function* () {
    const pods = yield* (yield* ClusterTest).snapshot(Pod)
    return pods.filter(({ spec }) => spec?.nodeName === node)
  })

const node = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Node, { name }))

const taints = (name: string) =>
  Effect.map(node(name), ({ spec }) => (spec?.taints ?? []).map(({ effect, key }) => `${key}:${effect}`).toSorted())

const ready = ({ status }: Node | Pod) => status?.conditions?.find(({ type }) => type === "Ready")?.status

const reasons = (component: string) =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const events = yield* (yield* ClusterTest).snapshot(Event)
    return events.filter(({ source }) => source?.component === component)
  })

const unreachable = ["NoExecute", "NoSchedule"].map((effect) => `node.kubernetes.io/unreachable:${effect}`)

const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

describe("a node that stops reporting", () => {
  it.effect("is detected after fifty seconds, and its pods are replaced on other nodes five minutes later", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* begun
      const lost = yield* podsOn("worker-1")
      assert.isNotEmpty(lost)
      yield* nodes.stop("worker-1")
      yield* cluster.advance("40 seconds")
      assert.strictEqual(ready(yield* node("worker-1")), "True")
      yield* cluster.advance("20 seconds")
      assert.strictEqual(ready(yield* node("worker-1")), "Unknown")
      assert.deepStrictEqual(yield* taints("worker-1"), unreachable)
      const marked = yield* podsOn("worker-1")
      assert.deepStrictEqual(
        marked.map(ready),
        marked.map(() => "False")
      )
      assert.isFalse(marked.some(isDeleted))
      // The default toleration of every pod: 300 seconds from the taint.
      yield* cluster.advance("280 seconds")
      assert.isFalse((yield* podsOn("worker-1")).some(isDeleted))
      yield* cluster.advance("20 seconds")
      const evicted = yield* podsOn("worker-1")
      assert.strictEqual(evicted.length, lost.length)
      for (const pod of evicted) {
        assert.isTrue(isDeleted(pod))
        const { message, reason, status } =
          pod.status?.conditions?.find(({ type }) => type === "DisruptionTarget") ?? {}
        assert.deepStrictEqual(
          { message, reason, status },
          {
            status: "True",
            reason: "DeletionByTaintManager",
            message: "Taint manager: deleting due to NoExecute taint"
          }
        )
      }
      const { status } = yield* (yield* KubeClient).get(Deployment, { namespace: "default", name: "web" })
      assert.strictEqual(status?.availableReplicas, 4)
      assert.lengthOf(yield* podsOn("worker-2"), 4)
      const recorded = (yield* reasons("taint-eviction-controller")).map(({ message }) => message)
      assert.sameMembers(
        recorded,
        lost.map(({ metadata }) => `Marking for deletion Pod default/${metadata.name}`)
      )
      const before = (yield* node("worker-1")).metadata.resourceVersion
      yield* cluster.advance("1 hour")
      assert.strictEqual((yield* node("worker-1")).metadata.resourceVersion, before)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )

  it.effect("keeps its pods and has no taint when it recovers in time", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* begun
      const before = (yield* podsOn("worker-1")).map(({ metadata }) => metadata.uid)
      yield* nodes.stop("worker-1")
      yield* cluster.advance("3 minutes")
      assert.deepStrictEqual(yield* taints("worker-1"), unreachable)
      yield* nodes.start("worker-1")
      yield* cluster.advance("20 seconds")
      assert.deepStrictEqual(yield* taints("worker-1"), [])
      const recorded = (yield* reasons("taint-eviction-controller")).map(
        ({ message, reason }) => `${reason} ${message}`
      )
      assert.deepStrictEqual(
        recorded.toSorted(),
        (yield* podsOn("worker-1"))
          .map(({ metadata }) => `TaintManagerEviction Cancelling deletion of Pod default/${metadata.name}`)
          .sort()
      )
      yield* cluster.advance("1 hour")
      const after = yield* podsOn("worker-1")
      assert.deepStrictEqual(
        after.map(({ metadata }) => metadata.uid),
        before
      )
      assert.deepStrictEqual(
        after.map(ready),
        after.map(() => "True")
      )
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )

  it.effect("loses no pod while no node reports, and has a new grace period when one recovers", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* begun
      const all = ["control-plane", "worker-1", "worker-2"]
      for (const name of all) yield* nodes.stop(name)
      yield* cluster.advance("1 hour")
      for (const name of all) {
        assert.strictEqual(ready(yield* node(name)), "Unknown")
        assert.notInclude(yield* taints(name), unreachable[0])
      }
      assert.isFalse((yield* cluster.snapshot(Pod)).some(isDeleted))
      yield* nodes.start("control-plane")
      yield* cluster.advance("5 seconds")
      assert.notInclude(yield* taints("worker-1"), unreachable[0])
      yield* cluster.advance("30 seconds")
      // One node's pods may be evicted at once, those of the next ten seconds later.
      for (const name of ["worker-1", "worker-2"]) assert.include(yield* taints(name), unreachable[0])
      assert.isFalse((yield* cluster.snapshot(Pod)).some(isDeleted))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )
})
