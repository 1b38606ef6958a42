/** A Deployment of twenty pods on simulated nodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import { Deployment, Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import { isReady } from "../../../src/kube/pod.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Harness from "./harness.ts"

/** After each pod event from now on: how many pods are not terminating, and how many of them are ready. */
const samples = Effect.gen(function* () {
  const client = yield* KubeClient
  const pods = new Map<string, Pod>()
  const seen: Array<readonly [pods: number, available: number]> = []
  const { items, metadata } = yield* client.list(Pod)
  for (const pod of items) pods.set(pod.metadata.name, pod)
  const watched = client.watch(Pod, { resourceVersion: metadata.resourceVersion })
  yield* Effect.forkScoped(
    Stream.runForEach(watched, ({ object, type }) =>
      Effect.sync(() => {
        const pod = object as Pod
        if (type === "DELETED" || pod.metadata.deletionTimestamp !== undefined) pods.delete(pod.metadata.name)
        else pods.set(pod.metadata.name, pod)
        seen.push([pods.size, [...pods.values()].filter(isReady).length])
      })
    )
  )
  return seen
})

const runsOf = Effect.map(Metric.snapshot, (all) =>
  all
    .filter((one) => one.id === "controller_runtime_reconcile_total" && one.attributes?.["controller"] === "deployment")
    .reduce((sum, one) => sum + ((one.state as { count?: number }).count ?? 0), 0)
)

const seen = Effect.map(Harness.get(Deployment), ({ status }) => status)

describe("twenty pods", () => {
  it.effect(
    "are created, ready, updated and available; an update keeps at least 15 available and at most 25 in all",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* cluster.run(ReplicaSetController.make())
        yield* Harness.start
        yield* Harness.create(Deployment, Harness.deployment({ replicas: 20 }))
        yield* cluster.advance("2 minutes")
        const all = { replicas: 20, readyReplicas: 20, updatedReplicas: 20, availableReplicas: 20 }
        assert.deepInclude(yield* seen, all)
        const during = yield* samples
        yield* Harness.useImage("web:2")
        yield* cluster.advance("2 minutes")
        assert.strictEqual(Math.max(...during.map(([pods]) => pods)), 25)
        assert.strictEqual(Math.min(...during.map(([, available]) => available)), 15)
        assert.deepInclude(yield* seen, all)
        assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 20/20"])
        yield* Harness.change({ replicas: 10 })
        yield* cluster.advance("2 minutes")
        assert.deepInclude(yield* seen, { replicas: 10, readyReplicas: 10, updatedReplicas: 10, availableReplicas: 10 })
        assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 10/10"])
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 4 })))
  )
})

describe("a surplus ReplicaSet that is deleted", () => {
  it.effect("enqueues its Deployment once", () =>
    Effect.gen(function* () {
      yield* Harness.running()
      yield* Harness.useImage("web:2")
      for (let step = 0; step < 4; step++) {
        yield* Harness.completeReplicaSet("web:2")
        yield* Harness.completeReplicaSet("web:1")
      }
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 3/3"])
      const before = yield* runsOf
      assert.isAbove(before, 0)
      yield* Harness.remove(ReplicaSet, (yield* Harness.setOf("web:1")).metadata.name)
      yield* Harness.advance("1 minute")
      assert.strictEqual((yield* runsOf) - before, 1)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()), Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
