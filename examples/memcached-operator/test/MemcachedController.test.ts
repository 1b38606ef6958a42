import { assert, describe, it } from "@effect/vitest"
import { Conditions, Crd, Deployment, Event, KubeClient, Patch, Resource } from "effect-controller-manager"
import { ApiServer, ClusterTest } from "effect-controller-manager/testing"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Memcached } from "../src/Memcached.ts"
import * as MemcachedController from "../src/MemcachedController.ts"
import { deploymentFor, statusOf } from "../src/plan.ts"

const cluster = ClusterTest.layer({ crds: [Result.getOrThrow(Crd.make(Memcached))] })

const target = { namespace: "default", name: "sessions" }

const memcached = (size: number) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: target,
  spec: { size, containerPort: 11_211 }
})

const controller = MemcachedController.make({ image: "memcached:1.6" })

/** Writes the status that the Deployment controller would write. */
const available = (availableReplicas: number) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Deployment, target, Patch.merge({ status: { availableReplicas, replicas: availableReplicas } }), {
      subresource: "status"
    })
  )

describe("the controller", () => {
  it.effect("keeps a Deployment of the specified size, and restores it after other clients change it", () =>
    Effect.gen(function* () {
      const { apply, run, settle } = yield* ClusterTest
      const client = yield* KubeClient
      yield* run(controller)
      const replicas = Effect.map(client.get(Deployment, target), ({ spec }) => spec?.replicas)

      yield* apply([memcached(2)])
      yield* settle
      assert.strictEqual(yield* replicas, 2)
      yield* apply([memcached(3)])
      yield* settle
      assert.strictEqual(yield* replicas, 3)
      yield* client.patch(Deployment, target, Patch.merge({ spec: { replicas: 9 } }))
      yield* settle
      assert.strictEqual(yield* replicas, 3)
    }).pipe(Effect.provide(cluster))
  )

  it.effect("writes the number of ready servers, and then nothing more", () =>
    Effect.gen(function* () {
      const { apply, run, settle } = yield* ClusterTest
      const client = yield* KubeClient
      yield* run(controller)
      yield* apply([memcached(2)])
      yield* settle
      const conditions = Effect.map(client.get(Memcached, target), ({ status }) => status?.conditions)
      assert.isFalse(Conditions.isTrue(yield* conditions, "Available"))
      yield* available(2)
      yield* settle
      assert.isTrue(Conditions.isTrue(yield* conditions, "Available"))

      const version = Effect.map(client.get(Memcached, target), ({ metadata }) => metadata.resourceVersion)
      const before = yield* version
      yield* client.patch(Deployment, target, Patch.merge({ metadata: { annotations: { touched: "yes" } } }))
      yield* settle
      assert.strictEqual(yield* version, before)
    }).pipe(Effect.provide(cluster))
  )

  it.effect("records one event for a deletion, and removes the finalizer", () =>
    Effect.gen(function* () {
      const { apply, run, settle } = yield* ClusterTest
      const server = yield* ApiServer
      const client = yield* KubeClient
      yield* run(controller)
      yield* apply([memcached(1)])
      yield* settle
      yield* client.delete(Memcached, target)
      yield* settle
      assert.deepStrictEqual(yield* server.snapshot(Memcached), [])
      const told = (yield* server.snapshot(Event)).filter(({ reason }) => reason === "Deleting")
      assert.strictEqual(told.length, 1)
    }).pipe(Effect.provide(cluster))
  )

  it.effect("gets no Memcached with an invalid size, because the API server rejects it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip((yield* ClusterTest).apply([memcached(4)]))
      assert.include(error.message, "spec.size")
    }).pipe(Effect.provide(cluster))
  )
})

describe("the plan", () => {
  /** Objects as they are in the cache. */
  const stored = (one: object) => {
    const object = Result.getOrThrow(Memcached.decode(one))
    return { ...object, metadata: { ...object.metadata, ...target, uid: "1", generation: 1 } }
  }

  it.effect("changes the status once", () =>
    Effect.map(
      Arbitrary.checkEffect(Resource.arbitrary(Memcached), (one) => {
        const object = stored(one)
        const status = statusOf(object, undefined, 0)
        return statusOf({ ...object, status }, undefined, 60_000) === status
      }),
      (result) => assert.strictEqual(result._tag, "Passed")
    )
  )

  it("has a Deployment with `size` replicas", () =>
    assert.strictEqual(deploymentFor(stored(memcached(2)), "x").spec.replicas, 2))
})
