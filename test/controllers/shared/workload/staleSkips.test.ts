/** `*_stale_sync_skips_total`: syncs that are delayed because the cache does not yet show the writes of the last sync. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as DaemonSet from "../../../../src/controllers/DaemonSet.ts"
import * as Job from "../../../../src/controllers/Job.ts"
import * as ReplicaSet from "../../../../src/controllers/ReplicaSet.ts"
import * as StatefulSet from "../../../../src/controllers/StatefulSet.ts"
import { Pod } from "../../../../src/kube/resources.ts"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import * as Faults from "../../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"

const labels = { app: "web" }
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } }
const metadata = { name: "web", namespace: "default" }
const selecting = { selector: { matchLabels: labels }, template }

const kinds = [
  ["replicaset_controller", ReplicaSet.make(), { apiVersion: "apps/v1", kind: "ReplicaSet", spec: selecting }],
  [
    "daemonset_controller",
    DaemonSet.make(),
    { apiVersion: "apps/v1", kind: "DaemonSet", spec: { ...selecting, updateStrategy: { type: "OnDelete" } } }
  ],
  [
    "statefulset_controller",
    StatefulSet.make(),
    { apiVersion: "apps/v1", kind: "StatefulSet", spec: { ...selecting, serviceName: "web" } }
  ],
  [
    "job_controller",
    Job.make(),
    {
      apiVersion: "batch/v1",
      kind: "Job",
      spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } }
    }
  ]
] as const

const skips = (subsystem: string) =>
  Effect.map(Metric.snapshot, (all) =>
    all.flatMap(({ attributes, id, state }) =>
      id === `${subsystem}_stale_sync_skips_total` && "count" in state ? [[attributes, state.count]] : []
    )
  )

describe("stale_sync_skips_total", () => {
  it.effect.each(kinds)(
    "of the %s counts a sync that waits for pods that it created",
    ([subsystem, controller, object]) =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        // The watch delivers no pods, and no later ones.
        yield* (yield* ApiServer).setFaults([
          {
            match: Faults.on({ verb: "watch", resource: "pods" }),
            fault: { _tag: "CutWatch", after: 1, how: "silence" }
          }
        ])
        yield* cluster.run(controller)
        yield* cluster.apply([{ ...object, metadata }])
        yield* cluster.advance("5 seconds")
        assert.lengthOf(yield* cluster.snapshot(Pod), 1)
        assert.deepStrictEqual(yield* skips(subsystem), [[{ group: "", resource: "pods" }, 1]])
      }).pipe(
        Effect.scoped,
        Effect.provide(ClusterTest.layer({ nodes: 2 })),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
  )

  it.effect("of a kind with a fresh cache counts nothing", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const [subsystem, controller, object] = kinds[0]
      yield* cluster.run(controller)
      yield* cluster.apply([{ ...object, metadata }])
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual(yield* skips(subsystem), [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()), Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
