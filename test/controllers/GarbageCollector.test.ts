/** The garbage collector on the embedded API server: each propagation policy and each kind of owner. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GarbageCollector from "../../src/controllers/GarbageCollector.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Event, Node, Secret } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { all, apply, blocking, left, make, manifest, to } from "./garbagecollector/objects.ts"

const collector = GarbageCollector.make()
const hold = ["example.com/hold"]

const remove = (
  name: string,
  propagationPolicy: "Background" | "Foreground" | "Orphan",
  resource: Resource.Any = ConfigMap
) =>
  Effect.gen(function* () {
    yield* (yield* KubeClient).delete(resource, { name, namespace: "default" }, { propagationPolicy })
    yield* (yield* ClusterTest).settle
  })

const release = (name: string) =>
  Effect.gen(function* () {
    const patch = Patch.merge({ metadata: { finalizers: null } })
    yield* (yield* KubeClient).patch(ConfigMap, { name, namespace: "default" }, patch)
    yield* (yield* ClusterTest).settle
  })

const finalizers = (name: string) =>
  Effect.map(
    Effect.flatMap(KubeClient, (client) => client.get(ConfigMap, { name, namespace: "default" })),
    ({ metadata }) => metadata.finalizers
  )

describe("deletions", () => {
  it.effect("in the background: the owner is deleted at once, then its dependents, then theirs", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [to(a)] })
      yield* make("c", { kind: "Secret", owners: [to(b)] })
      yield* make("other")
      yield* cluster.settle
      yield* remove("a", "Background")
      assert.deepStrictEqual(yield* all, ["other"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in the foreground: the owner waits for dependents that block it, all the way down", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      yield* make("c", { owners: [blocking(b)], finalizers: hold })
      yield* make("d", { owners: [to(b)] })
      yield* cluster.settle
      yield* remove("a", "Foreground")
      assert.deepStrictEqual(yield* all, ["a!", "b! < a", "c! < b"])
      assert.deepStrictEqual(
        [yield* finalizers("a"), yield* finalizers("b")],
        [["foregroundDeletion"], ["foregroundDeletion"]]
      )
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(yield* all, ["a!", "b! < a", "c! < b"])
      yield* release("c")
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in the foreground: dependents that do not block are not waited for", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      yield* make("b", { owners: [blocking(a)] })
      yield* make("c", { owners: [to(a)], finalizers: hold })
      yield* cluster.settle
      yield* remove("a", "Foreground")
      assert.deepStrictEqual(yield* all, ["c! < a"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in the foreground: a dependent with another owner loses the reference and is not deleted", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b")
      yield* make("c", { owners: [blocking(a), blocking(b)] })
      yield* cluster.settle
      yield* remove("a", "Foreground")
      assert.deepStrictEqual(yield* all, ["b", "c < b"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("that orphan: dependents lose the reference, then the owner is deleted", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a", { finalizers: hold })
      const b = yield* make("b")
      yield* make("c", { owners: [to(a)] })
      yield* make("d", { kind: "Secret", owners: [to(b), blocking(a)] })
      yield* cluster.settle
      yield* remove("a", "Orphan")
      assert.deepStrictEqual(yield* all, ["a!", "b", "c", "d < b"])
      assert.deepStrictEqual(yield* finalizers("a"), hold)
      yield* release("a")
      assert.deepStrictEqual(yield* all, ["b", "c", "d < b"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("of a member of a cycle delete the whole cycle, in the foreground and in the background", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(collector)
      for (const policy of ["Foreground", "Background"] as const) {
        const a = yield* make("a")
        const b = yield* make("b", { owners: [blocking(a)] })
        const c = yield* make("c", { owners: [blocking(b)] })
        const ownerReferences = [blocking(c)]
        yield* client.patch(
          ConfigMap,
          { name: "a", namespace: "default" },
          Patch.merge({ metadata: { ownerReferences } })
        )
        yield* cluster.settle
        assert.deepStrictEqual(yield* all, ["a < c", "b < a", "c < b"])
        yield* remove("b", policy)
        assert.deepStrictEqual(yield* all, [], policy)
      }
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("of two that own each other, both at once in the foreground, do not deadlock", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      const ownerReferences = [blocking(b)]
      yield* client.patch(
        ConfigMap,
        { name: "a", namespace: "default" },
        Patch.merge({ metadata: { ownerReferences } })
      )
      yield* cluster.settle
      yield* Effect.all([remove("a", "Foreground"), remove("b", "Foreground")], { concurrency: 2 })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

describe("owners", () => {
  it.effect("that never existed: the dependent is deleted, and its own dependents with it", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "no-such-uid" }
      const a = yield* make("a", { owners: [ghost] })
      yield* make("b", { kind: "Secret", owners: [to(a)] })
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("that were recreated under the same name are other owners", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const old = yield* make("a")
      yield* make("b", { owners: [to(old)] })
      yield* remove("a", "Background")
      yield* make("a")
      yield* cluster.run(collector)
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, ["a"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("under a wrong name are absent; under another API version they are present", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      yield* make("wrong-name", { owners: [to(a, { name: "b" })] })
      yield* make("wrong-kind", { owners: [to(a, { kind: "Secret" })] })
      const scaler = yield* apply({
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "scaler" },
        spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "web" } }
      })
      yield* make("other-version", { owners: [to(scaler, { apiVersion: "autoscaling/v1" })] })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, ["a", "other-version < scaler"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in another namespace are absent, with an event", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(collector)
      yield* apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
      const a = yield* make("a")
      yield* cluster.settle
      const b = yield* make("b", { namespace: "team", owners: [to(a)] })
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, ["a"])
      yield* (yield* Recorder).drained
      const { items } = yield* client.list(Event, { namespace: "team" })
      assert.deepStrictEqual(
        items.map(({ involvedObject, message, reason, source, type }) => [
          type,
          reason,
          source?.component,
          involvedObject.kind,
          involvedObject.uid,
          message
        ]),
        [
          [
            "Warning",
            "OwnerRefInvalidNamespace",
            "garbage-collector-controller",
            "ConfigMap",
            b.metadata.uid,
            `ownerRef [v1/ConfigMap, namespace: team, name: a, uid: ${a.metadata.uid}] does not exist in namespace "team"`
          ]
        ]
      )
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in a namespace cannot own a cluster-scoped object, which is kept", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const node = { apiVersion: "v1", kind: "Node" }
      yield* apply({ ...node, metadata: { name: "seen", ownerReferences: [to(a)] } })
      const ghost = to(a, { name: "ghost", uid: "no-such-uid" })
      yield* apply({ ...node, metadata: { name: "unseen", ownerReferences: [ghost] } })
      yield* remove("a", "Background")
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(yield* left(Node), ["seen < a", "unseen < ghost"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("that are cluster-scoped own across namespaces, and are absent for all of them", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(collector)
      yield* apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
      const node = yield* apply({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } })
      yield* make("a", { owners: [to(node)] })
      yield* make("b", { namespace: "team", owners: [to(node)] })
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, ["a < n", "b < n"])
      yield* client.delete(Node, { name: "n" })
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, [])
      const ghost = to(node, { name: "ghost", uid: "no-such-uid" })
      yield* cluster.apply([manifest("a", { owners: [ghost] }), manifest("b", { namespace: "team", owners: [ghost] })])
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("of which one is left: the references to the others are removed", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const [a, b, c] = [yield* make("a"), yield* make("b"), yield* make("c", { kind: "Secret" })]
      yield* make("d", { owners: [to(a), to(b), to(c)] })
      yield* cluster.settle
      yield* remove("b", "Background")
      assert.deepStrictEqual(yield* all, ["a", "d < a < c", "c"])
      yield* remove("a", "Foreground")
      assert.deepStrictEqual(yield* all, ["d < c", "c"])
      yield* remove("c", "Background", Secret)
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("of an unknown kind keep their dependents, whatever becomes of the other owners", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const widget = { apiVersion: "shop.example/v1", kind: "Widget", name: "w", uid: "widget" }
      yield* make("b", { owners: [to(a), widget] })
      yield* make("c", { owners: [{ ...widget, apiVersion: "shop/example/v1", uid: "odd" }] })
      yield* remove("a", "Background")
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(yield* all, ["b < a < w", "c < w"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})
