/** The garbage collector on the embedded API server: each propagation policy and each kind of owner. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Event, Node, Secret } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { advance } from "../support/cluster.ts"
import * as Harness from "./garbagecollector/harness.ts"
import { all, apply, blocking, left, make, makeChain, manifest, settle, to } from "./garbagecollector/harness.ts"
import { collector, setOwners, withCollector } from "./garbagecollector/harness.ts"

const hold = ["example.com/hold"]

const remove = (...parameters: Parameters<typeof Harness.remove>) =>
  Effect.andThen(Harness.remove(...parameters), settle)

const release = (name: string) =>
  Effect.gen(function* () {
    const patch = Patch.merge({ metadata: { finalizers: null } })
    yield* (yield* KubeClient).patch(ConfigMap, { name, namespace: "default" }, patch)
    yield* settle
  })

const finalizers = (name: string) =>
  Effect.map(
    Effect.flatMap(KubeClient, (client) => client.get(ConfigMap, { name, namespace: "default" })),
    ({ metadata }) => metadata.finalizers
  )

describe("a deletion", () => {
  it.effect("in the background deletes the owner at once, then its dependents, then their dependents", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        const b = yield* make("b", { owners: [to(a)] })
        yield* make("c", { kind: "Secret", owners: [to(b)] })
        yield* make("other")
        yield* settle
        yield* remove("a", "Background")
        assert.deepStrictEqual(yield* all, ["other"])
      })
    )
  )

  it.effect(
    "in the foreground keeps the owner until all blocking dependents and their blocking dependents are deleted",
    () =>
      withCollector(
        Effect.gen(function* () {
          const a = yield* make("a")
          const b = yield* make("b", { owners: [blocking(a)] })
          yield* make("c", { owners: [blocking(b)], finalizers: hold })
          yield* make("d", { owners: [to(b)] })
          yield* settle
          yield* remove("a", "Foreground")
          assert.deepStrictEqual(yield* all, ["a!", "b! < a", "c! < b"])
          assert.deepStrictEqual(
            [yield* finalizers("a"), yield* finalizers("b")],
            [["foregroundDeletion"], ["foregroundDeletion"]]
          )
          yield* advance("1 hour")
          assert.deepStrictEqual(yield* all, ["a!", "b! < a", "c! < b"])
          yield* release("c")
          assert.deepStrictEqual(yield* all, [])
        })
      )
  )

  it.effect("in the foreground does not wait for dependents that do not block", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        yield* make("b", { owners: [blocking(a)] })
        yield* make("c", { owners: [to(a)], finalizers: hold })
        yield* settle
        yield* remove("a", "Foreground")
        assert.deepStrictEqual(yield* all, ["c! < a"])
      })
    )
  )

  it.effect(
    "in the foreground removes the reference from a dependent with another owner, and keeps the dependent",
    () =>
      withCollector(
        Effect.gen(function* () {
          const a = yield* make("a")
          const b = yield* make("b")
          yield* make("c", { owners: [blocking(a), blocking(b)] })
          yield* settle
          yield* remove("a", "Foreground")
          assert.deepStrictEqual(yield* all, ["b", "c < b"])
        })
      )
  )

  it.effect("with orphaning removes the reference from the dependents, then deletes the owner", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a", { finalizers: hold })
        const b = yield* make("b")
        yield* make("c", { owners: [to(a)] })
        yield* make("d", { kind: "Secret", owners: [to(b), blocking(a)] })
        yield* settle
        yield* remove("a", "Orphan")
        assert.deepStrictEqual(yield* all, ["a!", "b", "c", "d < b"])
        assert.deepStrictEqual(yield* finalizers("a"), hold)
        yield* release("a")
        assert.deepStrictEqual(yield* all, ["b", "c", "d < b"])
      })
    )
  )

  it.effect("of one object in a cycle of owners deletes the whole cycle, in the foreground and in the background", () =>
    withCollector(
      Effect.gen(function* () {
        for (const policy of ["Foreground", "Background"] as const) {
          const [, , c] = yield* makeChain(blocking, "a", "b", "c")
          yield* setOwners("a", blocking(c))
          yield* settle
          assert.deepStrictEqual(yield* all, ["a < c", "b < a", "c < b"])
          yield* remove("b", policy)
          assert.deepStrictEqual(yield* all, [], policy)
        }
      })
    )
  )

  it.effect("of two objects that own each other, both at once in the foreground, does not deadlock", () =>
    withCollector(
      Effect.gen(function* () {
        const [, b] = yield* makeChain(blocking, "a", "b")
        yield* setOwners("a", blocking(b))
        yield* settle
        yield* Effect.all([remove("a", "Foreground"), remove("b", "Foreground")], { concurrency: 2 })
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )
})

describe("an owner", () => {
  it.effect("that never existed has its dependent deleted, and the dependents of that one", () =>
    withCollector(
      Effect.gen(function* () {
        const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "no-such-uid" }
        const a = yield* make("a", { owners: [ghost] })
        yield* make("b", { kind: "Secret", owners: [to(a)] })
        yield* settle
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )

  it.effect("that is recreated under the same name does not own the dependents of the old one", () =>
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

  it.effect("is absent under a wrong name or kind, and exists under another API version", () =>
    withCollector(
      Effect.gen(function* () {
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
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* all, ["a", "other-version < scaler"])
      })
    )
  )

  it.effect("in another namespace is absent, and an event is recorded", () =>
    withCollector(
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
        const a = yield* make("a")
        yield* settle
        const b = yield* make("b", { namespace: "team", owners: [to(a)] })
        yield* settle
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
      })
    )
  )

  it.effect("in a namespace cannot own a cluster-scoped object, which is kept after the owner's deletion", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        const node = { apiVersion: "v1", kind: "Node" }
        yield* apply({ ...node, metadata: { name: "seen", ownerReferences: [to(a)] } })
        const ghost = to(a, { name: "ghost", uid: "no-such-uid" })
        yield* apply({ ...node, metadata: { name: "unseen", ownerReferences: [ghost] } })
        yield* remove("a", "Background")
        yield* advance("10 minutes")
        assert.deepStrictEqual(yield* left(Node), ["seen < a", "unseen < ghost"])
      })
    )
  )

  it.effect("that is cluster-scoped owns objects in all namespaces, and its absence is known for all of them", () =>
    withCollector(
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const client = yield* KubeClient
        yield* apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
        const node = yield* apply({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } })
        yield* make("a", { owners: [to(node)] })
        yield* make("b", { namespace: "team", owners: [to(node)] })
        yield* settle
        assert.deepStrictEqual(yield* all, ["a < n", "b < n"])
        yield* client.delete(Node, { name: "n" })
        yield* settle
        assert.deepStrictEqual(yield* all, [])
        const ghost = to(node, { name: "ghost", uid: "no-such-uid" })
        yield* cluster.apply([
          manifest("a", { owners: [ghost] }),
          manifest("b", { namespace: "team", owners: [ghost] })
        ])
        yield* settle
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )

  it.effect("that is deleted loses the reference of a dependent that has another owner", () =>
    withCollector(
      Effect.gen(function* () {
        const [a, b, c] = [yield* make("a"), yield* make("b"), yield* make("c", { kind: "Secret" })]
        yield* make("d", { owners: [to(a), to(b), to(c)] })
        yield* settle
        yield* remove("b", "Background")
        assert.deepStrictEqual(yield* all, ["a", "d < a < c", "c"])
        yield* remove("a", "Foreground")
        assert.deepStrictEqual(yield* all, ["d < c", "c"])
        yield* remove("c", "Background", Secret)
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )

  it.effect("of an unknown kind keeps its dependents, even if their other owners are deleted", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        const widget = { apiVersion: "shop.example/v1", kind: "Widget", name: "w", uid: "widget" }
        yield* make("b", { owners: [to(a), widget] })
        yield* make("c", { owners: [{ ...widget, apiVersion: "shop/example/v1", uid: "odd" }] })
        yield* remove("a", "Background")
        yield* advance("1 hour")
        assert.deepStrictEqual(yield* all, ["b < a < w", "c < w"])
      })
    )
  )
})
