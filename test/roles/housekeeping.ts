/** Scenarios of pod-count, serviceaccount, namespace, garbagecollector and podgc. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as GarbageCollector from "../../src/controllers/GarbageCollector.ts"
import * as Namespaces from "../../src/controllers/Namespace.ts"
import * as PodCount from "../../src/controllers/PodCount.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as ServiceAccounts from "../../src/controllers/ServiceAccount.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { ConfigMap, Event, Namespace, Node, Pod, Service, ServiceAccount } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"

const pod = (name: string, spec: object = {}, metadata: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Pod, {
      metadata: { namespace, name, ...metadata },
      spec: { containers: [{ name: "main", image: "example.test/a:1" }], ...spec }
    })
  )

const counts = Scenario.makeIn(
  namespace,
  "pods are counted in a label of the control-plane node, and in events",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* pod("a")
    yield* cluster.advance("1500 millis")
    yield* cluster.run(PodCount.make({ schedule: Schedule.spaced("10 seconds") }))
    yield* cluster.advance("1 minute")
    const labels = (yield* cluster.snapshot(Node)).map(({ metadata }) => metadata.labels?.[PodCount.label])
    assert.include(labels, "1")
    yield* (yield* Recorder).drained
    const event = (yield* cluster.snapshot(Event)).find(({ reason }) => reason === "SuccessCalculatePod")
    assert.isAbove(event?.count ?? 0, 1)
  })
)

const accounts = Scenario.make(
  "every namespace has its default account, which is recreated after a deletion",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(ServiceAccounts.make())
    yield* client.create(Namespace, { metadata: { name: "app" } })
    yield* cluster.settle
    yield* client.delete(ServiceAccount, { namespace: "app", name: "default" })
    yield* cluster.advance("10 seconds")
    assert.include(
      (yield* cluster.snapshot(ServiceAccount)).map(({ metadata }) => metadata.namespace),
      "app"
    )
  })
)

const namespaces = Scenario.make(
  "the content of a deleted namespace is deleted, pods first",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const app = { namespace: "app" }
    yield* client.create(Namespace, { metadata: { name: "app" } })
    yield* pod("web", {}, app)
    yield* client.create(ConfigMap, { metadata: { ...app, name: "settings" } })
    yield* client.create(Service, { metadata: { ...app, name: "web" }, spec: { ports: [{ port: 80 }] } })
    yield* cluster.run(Namespaces.make())
    yield* cluster.advance("1 minute")
    // Older servers cannot delete Services as a collection.
    const refusal = { _tag: "Status", code: 404 } as const
    const match = { verb: "deletecollection", resource: "services" } as const
    yield* (yield* ApiServer).setFaults([{ match, fault: refusal }])
    yield* client.delete(Namespace, { name: "app" })
    yield* cluster.advance("2 minutes")
    assert.notInclude(
      (yield* cluster.snapshot(Namespace)).map(({ metadata }) => metadata.name),
      "app"
    )
  })
)

const to = ({ apiVersion = "v1", kind = "ConfigMap", metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  blockOwnerDeletion: true
})

const garbage = Scenario.make(
  "dependents of deleted owners are deleted, orphans are kept, and invalid owners get an event",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const make = (name: string, owners: ReadonlyArray<KubeObject> = [], place = namespace) =>
      client.create(ConfigMap, { metadata: { namespace: place, name, ownerReferences: owners.map(to) } })
    const [gone, left] = [yield* make("gone"), yield* make("left")]
    yield* make("dependent", [gone])
    yield* make("orphan", [left])
    yield* cluster.run(GarbageCollector.make())
    yield* cluster.settle
    yield* client.delete(ConfigMap, { namespace, name: "gone" }, { propagationPolicy: "Foreground" })
    yield* client.delete(ConfigMap, { namespace, name: "left" }, { propagationPolicy: "Orphan" })
    yield* cluster.advance("1 minute")
    const names = (yield* cluster.snapshot(ConfigMap)).map(({ metadata }) => metadata.name)
    assert.notInclude(names, "dependent")
    assert.notInclude(names, "left")
    assert.include(names, "orphan")
    // An object of another namespace cannot be an owner.
    const stray = yield* make("stray", [yield* make("near"), yield* make("far", [], "kube-public")])
    yield* cluster.advance("1 minute")
    yield* (yield* Recorder).drained
    const event = (yield* cluster.snapshot(Event)).find(
      ({ involvedObject }) => involvedObject.uid === stray.metadata.uid
    )
    assert.strictEqual(event?.reason, "OwnerRefInvalidNamespace")
  })
)

const held = { finalizers: ["example.test/held"] }

const lost = Scenario.make(
  "pods of a deleted node are marked as failed and deleted",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* pod("lost", { nodeName: "nowhere" }, held)
    yield* cluster.run(PodGC.make())
    yield* cluster.advance("3 minutes")
    const [found] = yield* cluster.snapshot(Pod)
    assert.strictEqual(found?.status?.phase, "Failed")
    assert.isDefined(found?.metadata.deletionTimestamp)
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [counts, accounts, lost, namespaces, garbage].flat()
