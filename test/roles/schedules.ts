/** Scenarios of CronJobs and of persistentvolumeclaim-protection. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as CronJobs from "../../src/controllers/CronJob.ts"
import * as PvcProtection from "../../src/controllers/PvcProtection.ts"
import * as Zone from "../../src/kube/cron/Zone.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { CronJob, Job, PersistentVolumeClaim, Pod } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../src/layers/Leadership.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"

const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.test/work:1" }] } }

const cronJob = (name: string, spec: object) => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { namespace, name },
  spec: { schedule: "* * * * *", jobTemplate: { spec: { template } }, ...spec }
})

const lost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

const runs = Scenario.makeIn(
  namespace,
  "CronJobs start, replace and await Jobs, and continue under another leader",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const names = Effect.map(cluster.snapshot(Job), (all) => all.map(({ metadata }) => metadata.name))
    const first = yield* cluster.run(CronJobs.make({ zone: Zone.utc }))
    yield* cluster.apply([
      cronJob("alone", { concurrencyPolicy: "Forbid" }),
      cronJob("newest", { concurrencyPolicy: "Replace" })
    ])
    yield* cluster.advance("5 minutes")
    yield* first.stop(lost)
    yield* cluster.run(CronJobs.make({ zone: Zone.utc }))
    yield* cluster.advance("90 seconds")
    assert.deepStrictEqual(yield* names, ["alone-1", "newest-6"])
    yield* client.delete(Job, { namespace, name: "alone-1" }, { propagationPolicy: "Background" })
    yield* cluster.advance("1 second")
    assert.deepStrictEqual(yield* names, ["alone-6", "newest-6"])
    assert.deepStrictEqual(
      (yield* client.get(CronJob, { namespace, name: "alone" })).status?.active?.map(({ name }) => name),
      ["alone-6"]
    )
    yield* Scenario.assertCountedEvent()
  })
)

const claims = Scenario.makeIn(
  namespace,
  "a claim gets the finalizer, which is removed when no pod uses the claim",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(PvcProtection.make())
    yield* client.create(PersistentVolumeClaim, {
      metadata: { namespace, name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    })
    yield* client.create(Pod, {
      metadata: { namespace, name: "user" },
      spec: {
        nodeName: "worker-1",
        containers: [{ name: "main", image: "example.test/work:1" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]
      }
    })
    yield* cluster.advance("1 second")
    const data = { namespace, name: "data" }
    yield* client.delete(PersistentVolumeClaim, data)
    yield* cluster.advance("1 second")
    const { metadata } = yield* client.get(PersistentVolumeClaim, data)
    assert.deepStrictEqual(metadata.finalizers, ["kubernetes.io/pvc-protection"])
    yield* client.patch(PersistentVolumeClaim, data, Patch.merge({ metadata: { labels: { leaving: "yes" } } }))
    yield* client.delete(Pod, { namespace, name: "user" }, { gracePeriodSeconds: 0 })
    yield* cluster.advance("10 seconds")
    assert.isEmpty(yield* cluster.snapshot(PersistentVolumeClaim))
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [runs, claims].flat()
