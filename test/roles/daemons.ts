/** Scenarios of the controllers with ControllerRevisions: DaemonSets and StatefulSets. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as DaemonSets from "../../src/controllers/DaemonSet.ts"
import * as StatefulSets from "../../src/controllers/StatefulSet.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ControllerRevision, DaemonSet, PersistentVolumeClaim, Pod, StatefulSet } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const labels = { app: "log" }
const spec = (image = 1) => ({ containers: [{ name: "main", image: `example.test/log:${image}` }] })
const metadata = { namespace, name: "log" }

const manifest = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata,
  spec: { revisionHistoryLimit: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: spec() } }
}

const revisions = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(ControllerRevision))
const pods = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(Pod))

const rollout = Scenario.makeIn(
  namespace,
  "a DaemonSet adopts pods and revisions, rolls out an update, and deletes old revisions",
  { nodes: 3, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* client.create(Pod, { metadata: { namespace, name: "orphan", labels }, spec: spec() })
    yield* client.create(ControllerRevision, { metadata: { namespace, name: "orphan", labels }, data: {}, revision: 3 })
    yield* cluster.run(DaemonSets.make())
    const refusal = { _tag: "Status", code: 500 } as const
    yield* (yield* ApiServer).setFaults([{ match: { verb: "create", resource: "pods" }, fault: refusal, times: 3 }])
    yield* cluster.apply([manifest])
    yield* cluster.advance("1 minute")
    const image = (number: number) => ({ spec: { template: { spec: spec(number) } } })
    yield* client.patch(DaemonSet, metadata, Patch.merge(image(2)))
    yield* cluster.advance("3 minutes")
    assert.deepStrictEqual(
      (yield* pods).map((pod) => pod.spec?.containers[0]?.image),
      ["example.test/log:2", "example.test/log:2"]
    )
    assert.deepStrictEqual(
      (yield* revisions).map(({ revision }) => revision),
      [5]
    )
    assert.strictEqual((yield* client.get(DaemonSet, metadata)).status?.numberAvailable, 2)
    yield* Scenario.assertCountedEvent()
  })
)

const collision = Scenario.makeIn(
  namespace,
  "a DaemonSet avoids the name of a revision with another template",
  { nodes: 2 },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(DaemonSets.make())
    yield* cluster.apply([manifest])
    yield* cluster.settle
    const [first] = yield* revisions
    const taken = { namespace, name: first?.metadata.name ?? "" }
    yield* client.delete(DaemonSet, metadata, { propagationPolicy: "Background" })
    yield* client.delete(ControllerRevision, taken)
    yield* client.create(ControllerRevision, { metadata: taken, data: {}, revision: 1 })
    yield* cluster.apply([manifest])
    yield* cluster.advance("1 minute")
    assert.strictEqual((yield* client.get(DaemonSet, metadata)).status?.collisionCount, 1)
  })
)

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

const replicas = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata,
  spec: {
    replicas: 2,
    revisionHistoryLimit: 1,
    serviceName: "log",
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: spec() },
    volumeClaimTemplates: [claim],
    persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" }
  }
}

const scaling = Scenario.makeIn(
  namespace,
  "a StatefulSet adopts pods and revisions, rolls back, and deletes claims with their pods",
  { nodes: 3, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const template = { $patch: "replace", metadata: { labels }, spec: spec(2) }
    yield* client.create(ControllerRevision, {
      metadata: { namespace, name: "orphan", labels },
      data: { spec: { template } },
      revision: 3
    })
    yield* client.create(Pod, {
      metadata: { namespace, name: "log-1", labels },
      spec: { ...spec(), volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-log-1" } }] }
    })
    yield* cluster.run(StatefulSets.make())
    const refusal = { _tag: "Status", code: 500 } as const
    yield* (yield* ApiServer).setFaults([{ match: { verb: "create", resource: "pods" }, fault: refusal, times: 3 }])
    yield* cluster.apply([replicas])
    yield* cluster.advance("1 minute")
    const image = (number: number) => ({ spec: { template: { spec: spec(number) } } })
    for (const number of [2, 1]) {
      yield* client.patch(StatefulSet, metadata, Patch.merge(image(number)))
      yield* cluster.advance("1 minute")
    }
    const images = Effect.map(pods, (all) => all.map((pod) => pod.spec?.containers[0]?.image))
    assert.deepStrictEqual(yield* images, ["example.test/log:1", "example.test/log:1"])
    assert.deepStrictEqual(
      (yield* revisions).map(({ revision }) => revision).sort((a, b) => a - b),
      [5, 6]
    )
    yield* client.patch(StatefulSet, metadata, Patch.merge({ spec: { replicas: 1 } }))
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual(
      (yield* cluster.snapshot(PersistentVolumeClaim)).map((claim) => claim.metadata.ownerReferences?.[0]?.kind),
      [undefined, "Pod"]
    )
    assert.strictEqual((yield* client.get(StatefulSet, metadata)).status?.availableReplicas, 1)
    yield* Scenario.assertCountedEvent()
  })
)

const taken = Scenario.makeIn(
  namespace,
  "a StatefulSet avoids the name of a revision with another template",
  { nodes: 2 },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(StatefulSets.make())
    yield* cluster.apply([replicas])
    yield* cluster.settle
    const [first] = yield* revisions
    const target = { namespace, name: first?.metadata.name ?? "" }
    yield* client.delete(StatefulSet, metadata, { propagationPolicy: "Background" })
    yield* client.delete(ControllerRevision, target)
    yield* client.create(ControllerRevision, { metadata: target, data: {}, revision: 1 })
    yield* cluster.apply([replicas])
    yield* cluster.advance("1 minute")
    assert.strictEqual((yield* client.get(StatefulSet, metadata)).status?.collisionCount, 1)
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [...rollout, ...collision, ...scaling, ...taken]
