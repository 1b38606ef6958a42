/** The cases for the garbage collector from Kubernetes' suites: test/e2e/apimachinery/garbage_collector.go, test/integration/garbagecollector. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { Deployment, Pod, ReplicaSet, ReplicationController } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import * as Harness from "./harness.ts"

const labels = { gctest: "yes" }

const controller = (name: string, replicas: number, own: Readonly<Record<string, string>> = labels) => ({
  metadata: { name },
  spec: { replicas, selector: own, template: Harness.template(own) }
})

const made = (name: string, replicas: number) =>
  Effect.tap(Harness.create(ReplicationController, controller(name, replicas)), () =>
    Harness.until(
      Effect.map(Harness.get(ReplicationController, name), ({ status }) =>
        assert.strictEqual(status?.replicas, replicas)
      )
    )
  )

/** A precondition with the uid, so that another object of the same name is not deleted. */
const options = ({ metadata: { uid } }: KubeObject, propagationPolicy?: string) => ({
  preconditions: { uid },
  ...(propagationPolicy === undefined ? {} : { propagationPolicy })
})

const empty = (resource: Resource.Any) =>
  Harness.until(Effect.map(Harness.list(resource), (all) => assert.isEmpty(all)))

Harness.scenario(
  "a controller that is deleted in the background loses its pods, even if it has not created all of them",
  Effect.gen(function* () {
    const rc = yield* Harness.create(ReplicationController, controller("rc", 10))
    yield* Harness.until(Effect.map(Harness.list(Pod), (all) => assert.isNotEmpty(all)))
    yield* Harness.remove(ReplicationController, "rc", options(rc, "Background"))
    yield* Harness.gone(ReplicationController, "rc")
    yield* empty(Pod)
  })
)

for (const policy of ["Orphan", undefined])
  Harness.scenario(
    `lets the pods of a controller be where the user says ${policy ?? "nothing, which is the same"}`,
    Effect.gen(function* () {
      const rc = yield* made("rc", 20)
      yield* Harness.remove(ReplicationController, "rc", options(rc, policy))
      yield* Harness.gone(ReplicationController, "rc")
      yield* Harness.advance("30 seconds")
      const pods = yield* Harness.livingPods()
      assert.strictEqual(pods.length, 20)
      assert.isTrue(pods.every((pod) => Harness.controllerOf(pod) === undefined))
    })
  )

const deployment = {
  metadata: { name: "web" },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: Harness.template(labels) }
}

Harness.scenario(
  "a Deployment that is deleted takes its ReplicaSets and their pods with it",
  Effect.gen(function* () {
    const made = yield* Harness.create(Deployment, deployment)
    yield* Harness.until(Effect.map(Harness.list(ReplicaSet), (all) => assert.isNotEmpty(all)))
    yield* Harness.remove(Deployment, "web", options(made, "Background"))
    yield* Harness.gone(Deployment, "web")
    yield* empty(ReplicaSet)
    yield* empty(Pod)
  })
)

Harness.scenario(
  "a Deployment that is deleted with the policy Orphan leaves its ReplicaSets without an owner",
  Effect.gen(function* () {
    const made = yield* Harness.create(Deployment, deployment)
    yield* Harness.running("gctest=yes", 2)
    yield* Harness.remove(Deployment, "web", options(made, "Orphan"))
    yield* Harness.gone(Deployment, "web")
    yield* Harness.advance("30 seconds")
    const sets = yield* Harness.list(ReplicaSet)
    assert.deepStrictEqual([sets.length, (yield* Harness.livingPods()).length], [1, 2])
    assert.isTrue(sets.every((set) => Harness.controllerOf(set) === undefined))
  })
)

Harness.scenario(
  "a controller that is deleted in the foreground stays until its last pod is gone",
  Effect.gen(function* () {
    const rc = yield* made("rc", 20)
    yield* Harness.remove(ReplicationController, "rc", options(rc, "Foreground"))
    yield* Harness.gone(ReplicationController, "rc", "30 seconds")
    assert.isEmpty(yield* Harness.list(Pod))
  })
)

Harness.scenario(
  "a pod with another owner stays, without the reference to the deleted owner",
  Effect.gen(function* () {
    const first = yield* made("first", 10)
    const second = yield* Harness.create(ReplicationController, controller("second", 0, { gctest: "stays" }))
    const owner = { apiVersion: "v1", kind: "ReplicationController", name: "second", uid: second.metadata.uid }
    const kept = (yield* Harness.list(Pod)).slice(0, 5).map(({ metadata }) => metadata.name)
    for (const name of kept) yield* Harness.strategic(Pod, name, { metadata: { ownerReferences: [owner] } })
    yield* Harness.remove(ReplicationController, "first", options(first, "Foreground"))
    yield* Harness.gone(ReplicationController, "first", "90 seconds")
    const left = yield* Harness.list(Pod)
    assert.sameMembers(
      left.map(({ metadata }) => metadata.name),
      kept
    )
    for (const { metadata } of left) {
      assert.isUndefined(metadata.deletionTimestamp)
      assert.deepStrictEqual(
        metadata.ownerReferences?.map(({ name }) => name),
        ["second"]
      )
    }
  })
)

Harness.scenario(
  "three pods that own each other in a cycle are all deleted when one is",
  Effect.gen(function* () {
    const pods = yield* Effect.forEach(["one", "two", "three"], (name) =>
      Harness.create(Pod, { metadata: { name }, spec: Harness.spec() })
    )
    for (const [index, { metadata }] of pods.entries()) {
      const { name, uid } = pods.at(index - 1)?.metadata ?? { name: "" }
      const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true }
      yield* Harness.strategic(Pod, metadata.name, { metadata: { ownerReferences: [owner] } })
    }
    const [first] = pods
    assert.isDefined(first)
    yield* Harness.remove(Pod, "one", options(first, "Foreground"))
    yield* Harness.until(
      Effect.map(Harness.list(Pod), (all) => assert.isEmpty(all)),
      "90 seconds"
    )
  })
)

/** A cluster-scoped kind that is created while the collector runs. */
const Toy = Resource.make<KubeObject>()({
  group: "mygroup.example.com",
  version: "v1beta1",
  kind: "Toy",
  plural: "toys",
  scope: "Cluster"
})

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "toys.mygroup.example.com" },
  spec: {
    group: Toy.group,
    scope: "Cluster",
    names: { kind: "Toy", plural: "toys", singular: "toy", listKind: "ToyList" },
    versions: [
      {
        name: Toy.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
      }
    ]
  }
}

for (const policy of ["Background", "Orphan"] as const)
  Harness.scenario(
    `knows a kind that came later: ${policy === "Orphan" ? "lets a dependent be" : "deletes a dependent with its owner"}`,
    Effect.gen(function* () {
      yield* Effect.flatMap(ClusterTest, (cluster) => cluster.apply([definition]))
      const owner = yield* Harness.until(Harness.create(Toy, { metadata: { name: "owner" } }))
      const { name, uid } = owner.metadata
      const reference = { apiVersion: "mygroup.example.com/v1beta1", kind: "Toy", name, uid }
      yield* Harness.create(Toy, { metadata: { name: "dependent", ownerReferences: [reference] } })
      yield* Harness.remove(Toy, "owner", options(owner, policy))
      yield* Harness.gone(Toy, "owner")
      if (policy === "Background") return yield* Harness.gone(Toy, "dependent")
      yield* Harness.advance("1 minute")
      assert.isUndefined((yield* Harness.get(Toy, "dependent")).metadata.ownerReferences)
    })
  )

Harness.scenario(
  "a foreground deletion removes its own finalizer, and leaves those of others",
  Effect.gen(function* () {
    const held = ["x/y"]
    const made = yield* Harness.create(Pod, { metadata: { name: "lucy", finalizers: held }, spec: Harness.spec() })
    for (let times = 0; times < 2; times++) {
      yield* Harness.remove(Pod, "lucy", options(made, "Foreground"))
      yield* Harness.until(
        Effect.map(Harness.get(Pod, "lucy"), ({ metadata }) => {
          assert.isDefined(metadata.deletionTimestamp)
          assert.deepStrictEqual(metadata.finalizers, held)
        })
      )
    }
    yield* Harness.patch(Pod, "lucy", { metadata: { finalizers: null } })
    yield* Harness.gone(Pod, "lucy")
  })
)

Harness.scenario(
  "a foreground deletion does not wait for a dependent that does not block it, or that another owner keeps",
  Effect.gen(function* () {
    const going = yield* Harness.create(ReplicationController, controller("going", 0))
    const stays = yield* Harness.create(ReplicationController, controller("stays", 0, { gctest: "stays" }))
    const owner = ({ metadata: { name, uid } }: KubeObject, blockOwnerDeletion: boolean) => ({
      apiVersion: "v1",
      kind: "ReplicationController",
      name,
      uid,
      blockOwnerDeletion
    })
    const held = ["x/y"]
    const dependent = (name: string, ...ownerReferences: ReadonlyArray<object>) =>
      Harness.create(Pod, { metadata: { name, finalizers: held, ownerReferences }, spec: Harness.spec() })
    yield* dependent("loose", owner(going, false))
    yield* dependent("shared", owner(going, true), owner(stays, false))
    yield* Harness.remove(ReplicationController, "going", options(going, "Foreground"))
    yield* Harness.gone(ReplicationController, "going")
    const shared = yield* Harness.get(Pod, "shared")
    assert.isUndefined(shared.metadata.deletionTimestamp)
    assert.deepStrictEqual(
      shared.metadata.ownerReferences?.map(({ name }) => name),
      ["stays"]
    )
    yield* Harness.until(
      Effect.map(Harness.get(Pod, "loose"), ({ metadata }) => assert.isDefined(metadata.deletionTimestamp))
    )
  })
)
