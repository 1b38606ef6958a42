/** Scenarios of Deployments, ReplicaSets and ReplicationControllers. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Deployments from "../../src/controllers/Deployment.ts"
import * as ReplicaSets from "../../src/controllers/ReplicaSet.ts"
import * as ReplicationControllers from "../../src/controllers/ReplicationController.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Deployment, Event, Namespace, Pod, ReplicaSet, ReplicationController } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const labels = { app: "web" }
const spec = (image = 1) => ({ containers: [{ name: "main", image: `example.test/web:${image}` }] })
const template = { metadata: { labels }, spec: spec() }
const metadata = { namespace, name: "web", labels }
const selector = { matchLabels: labels }

const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 2, selector, template } }
const replicaSet = { ...deployment, kind: "ReplicaSet" }
const controller = {
  apiVersion: "v1",
  kind: "ReplicationController",
  metadata,
  spec: { replicas: 2, selector: labels, template }
}

const change = (body: object) =>
  Effect.gen(function* () {
    yield* (yield* KubeClient).patch(Deployment, metadata, Patch.merge(body))
    yield* (yield* ClusterTest).advance("1 minute")
  })

const sets = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(ReplicaSet))
const pods = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(Pod))
const imageOf = (set: ReplicaSet | undefined) => set?.spec?.template?.spec?.containers[0]?.image
const revision = "deployment.kubernetes.io/revision"

const rollout = Scenario.makeIn(
  namespace,
  "a Deployment is rolled out and rolled back, and its old ReplicaSets are deleted",
  { nodes: 3, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(ReplicaSets.make())
    yield* cluster.run(Deployments.make())
    yield* cluster.apply([deployment])
    yield* cluster.advance("1 minute")
    yield* change({ spec: { template: { spec: spec(2) } } })
    assert.deepStrictEqual((yield* sets).map((set) => `${imageOf(set)} ${set.spec?.replicas}`).sort(), [
      "example.test/web:1 0",
      "example.test/web:2 2"
    ])
    yield* change({ metadata: { annotations: { "deprecated.deployment.rollback.to": "1" } } })
    const back = yield* sets
    assert.strictEqual(back.find((set) => set.spec?.replicas === 2)?.metadata.annotations?.[revision], "3")
    yield* change({ spec: { revisionHistoryLimit: 0 } })
    assert.deepStrictEqual((yield* sets).map(imageOf), ["example.test/web:1"])
    const { status } = yield* (yield* KubeClient).get(Deployment, metadata)
    assert.strictEqual(status?.availableReplicas, 2)
  })
)

const adoption = Scenario.makeIn(
  namespace,
  "a ReplicaSet without an owner is adopted by the Deployment that selects it",
  {},
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([replicaSet, deployment])
    yield* cluster.run(Deployments.make())
    yield* cluster.advance("1 minute")
    assert.include(
      (yield* sets).map(({ metadata }) => `${metadata.name} < ${metadata.ownerReferences?.[0]?.name}`),
      "web < web"
    )
  })
)

const collision = Scenario.makeIn(
  namespace,
  "a Deployment avoids the name of a ReplicaSet with another template",
  {},
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(Deployments.make())
    yield* cluster.apply([deployment])
    yield* cluster.settle
    const [first] = yield* sets
    yield* client.delete(Deployment, metadata, { propagationPolicy: "Background" })
    yield* client.delete(ReplicaSet, { namespace, name: first?.metadata.name ?? "" })
    const other = { app: "other" }
    yield* client.create(ReplicaSet, {
      metadata: { namespace, name: first?.metadata.name ?? "" },
      spec: { selector: { matchLabels: other }, template: { ...template, metadata: { labels: other } } }
    })
    yield* cluster.apply([deployment])
    yield* cluster.advance("1 minute")
    assert.strictEqual((yield* client.get(Deployment, metadata)).status?.collisionCount, 1)
  })
)

/** Pods are created, adopted, deleted and counted; the event of failed creates is counted up. */
const keeps = (kind: string, run: Descriptor, owner: object, resource: Resource.Any) =>
  Scenario.makeIn(
    namespace,
    `a ${kind} has as many pods as it asks for`,
    { nodes: 2, ...Scenario.listing },
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const server = yield* ApiServer
      yield* client.create(Pod, { metadata: { namespace, name: "orphan", labels }, spec: spec() })
      yield* cluster.run(run)
      const refusal = { _tag: "Status", code: 500 } as const
      yield* server.setFaults([{ match: { verb: "create", resource: "pods" }, fault: refusal, times: 3 }])
      yield* cluster.apply([owner])
      yield* cluster.advance("1 minute")
      assert.strictEqual((yield* pods).length, 2)
      const orphan = (yield* pods).find(({ metadata }) => metadata.name === "orphan")
      assert.strictEqual(orphan?.metadata.ownerReferences?.[0]?.kind, kind)
      yield* client.patch(resource, metadata, Patch.merge({ spec: { replicas: 1 } }))
      yield* cluster.advance("1 minute")
      assert.strictEqual((yield* pods).length, 1)
      const { status } = (yield* client.get(resource, metadata)) as ReplicaSet
      assert.strictEqual(status?.readyReplicas, 1)
      yield* (yield* Recorder).drained
      const counts = (yield* cluster.snapshot(Event)).map(({ count }) => count ?? 1)
      assert.isAbove(Math.max(...counts), 1)
    })
  )

/** The controllers watch two namespaces of three. */
export const some = Scenario.make(
  "Deployments are rolled out in the watched namespaces and in no others",
  { cache: { namespaces: ["blue", "red"], streamingList: "never" } },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    for (const name of ["blue", "red", "grey"]) yield* client.create(Namespace, { metadata: { name } })
    for (const run of [Deployments.make(), ReplicaSets.make()]) yield* cluster.run(run)
    const server = yield* ApiServer
    const refusal = { _tag: "Status", code: 500 } as const
    yield* server.setFaults([{ match: { verb: "create", resource: "pods" }, fault: refusal, times: 6 }])
    for (const place of ["blue", "red", "grey"]) {
      const there = (object: { readonly metadata: object }) => ({
        ...object,
        metadata: { ...metadata, namespace: place }
      })
      yield* cluster.apply([there(deployment)])
    }
    yield* cluster.advance("1 minute")
    const made = (yield* pods).map(({ metadata }) => String(metadata.namespace))
    assert.deepStrictEqual(made.sort(), ["blue", "blue", "red", "red"])
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [
  keeps("ReplicaSet", ReplicaSets.make(), replicaSet, ReplicaSet),
  keeps("ReplicationController", ReplicationControllers.make(), controller, ReplicationController),
  adoption,
  collision,
  rollout
].flat()
