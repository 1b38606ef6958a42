/** The four kinds of patch. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import { type Case, configMap, pod } from "../Case.ts"

const owner = (name: string, uid: string, extra: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  name,
  uid,
  ...extra
})

const want = (data: Record<string, string>) =>
  Patch.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data })

export const patches: ReadonlyArray<Case> = [
  {
    title: "a merge patch merges objects, and null deletes a member",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      yield* client.create(ConfigMap, configMap("a", { keep: "1", change: "1", drop: "1" }), { namespace })
      const body = { data: { change: "2", drop: null, add: "1" } }
      const patched = yield* client.patch(ConfigMap, { namespace, name: "a" }, Patch.merge(body))
      assert.deepStrictEqual(patched.data, { keep: "1", change: "2", add: "1" })
    })
  },
  {
    title: "a JSON patch applies all operations or none",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const annotations = { "x/y": "1" }
      yield* client.create(ConfigMap, { metadata: { name: "a", annotations } }, { namespace })
      const patched = yield* client.patch(
        ConfigMap,
        target,
        Patch.json([
          { op: "test", path: "/metadata/annotations/x~1y", value: "1" },
          { op: "replace", path: "/metadata/annotations/x~1y", value: "2" },
          { op: "add", path: "/metadata/labels", value: { l: "1" } },
          { op: "copy", from: "/metadata/annotations/x~1y", path: "/metadata/annotations/z" }
        ])
      )
      assert.deepStrictEqual(patched.metadata.annotations, { "x/y": "2", z: "2" })
      assert.deepStrictEqual(patched.metadata.labels, { l: "1" })
      const failing = Patch.json([
        { op: "add", path: "/metadata/annotations/w", value: "1" },
        { op: "test", path: "/metadata/annotations/z", value: "other" }
      ])
      const error = yield* Effect.flip(client.patch(ConfigMap, target, failing))
      assert.strictEqual(error.reason._tag, "Invalid")
      assert.deepStrictEqual(yield* client.get(ConfigMap, target), patched)
    })
  },
  {
    title: "strategic merge patch merges lists by their key and sets of strings",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const [u1, u2] = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"]
      yield* client.create(
        Pod,
        { ...pod("a"), metadata: { name: "a", finalizers: ["x.example/1"], ownerReferences: [owner("one", u1)] } },
        { namespace }
      )
      const patched = yield* client.patch(
        Pod,
        target,
        Patch.strategic({
          metadata: { finalizers: ["x.example/2"], ownerReferences: [owner("two", u2)], labels: { l: "1" } },
          spec: { containers: [{ name: "main", image: "registry.example/app:2" }] }
        })
      )
      assert.deepStrictEqual([...(patched.metadata.finalizers ?? [])].sort(), ["x.example/1", "x.example/2"])
      assert.deepStrictEqual(patched.metadata.ownerReferences?.map(({ uid }) => uid).sort(), [u1, u2])
      const containers = patched.spec?.containers.map(({ name, image }) => [name, image])
      assert.deepStrictEqual(containers, [["main", "registry.example/app:2"]])
      const removed = yield* client.patch(
        Pod,
        target,
        Patch.strategic({
          metadata: {
            "$deleteFromPrimitiveList/finalizers": ["x.example/1", "x.example/2"],
            ownerReferences: [{ $patch: "delete", uid: u1 }]
          }
        })
      )
      assert.deepStrictEqual(
        removed.metadata.ownerReferences?.map(({ uid }) => uid),
        [u2]
      )
      assert.deepStrictEqual(removed.metadata.finalizers ?? [], [])
    })
  },
  {
    title: "a patch with a stale resource version is a Conflict; of a missing object NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const made = yield* client.create(ConfigMap, configMap("a"), { namespace })
      yield* client.patch(ConfigMap, target, Patch.merge({ data: { k: "1" } }))
      const { resourceVersion } = made.metadata
      const stale = client.patch(ConfigMap, target, Patch.merge({ metadata: { resourceVersion }, data: { k: "2" } }))
      assert.strictEqual((yield* Effect.flip(stale)).reason._tag, "Conflict")
      const missing = client.patch(ConfigMap, { namespace, name: "none" }, Patch.merge({ data: {} }))
      assert.strictEqual((yield* Effect.flip(missing)).reason._tag, "NotFound")
    })
  },
  {
    title: "a patch that changes nothing keeps the resourceVersion",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const made = yield* client.create(ConfigMap, configMap("a", { k: "1" }), { namespace })
      const same = yield* client.patch(ConfigMap, { namespace, name: "a" }, Patch.merge({ data: { k: "1" } }))
      assert.strictEqual(same.metadata.resourceVersion, made.metadata.resourceVersion)
    })
  },
  {
    title: "apply creates, owns its fields, and takes over those of others only with force",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const first = yield* client.patch(ConfigMap, target, want({ mine: "1", shared: "1" }), { fieldManager: "one" })
      assert.deepStrictEqual(first.data, { mine: "1", shared: "1" })
      const again = yield* client.patch(ConfigMap, target, want({ mine: "1", shared: "1" }), { fieldManager: "one" })
      assert.strictEqual(again.metadata.resourceVersion, first.metadata.resourceVersion)
      const claim = want({ shared: "2" })
      const refused = yield* Effect.flip(client.patch(ConfigMap, target, claim, { fieldManager: "two" }))
      assert.strictEqual(refused.reason._tag, "Conflict")
      const taken = yield* client.patch(ConfigMap, target, claim, { fieldManager: "two", force: true })
      assert.deepStrictEqual(taken.data, { mine: "1", shared: "2" })
    })
  },
  {
    title: "a field that its only manager no longer applies is removed, a shared one is kept",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      yield* client.patch(ConfigMap, target, want({ mine: "1", shared: "1" }), { fieldManager: "one" })
      yield* client.patch(ConfigMap, target, want({ shared: "1" }), { fieldManager: "two" })
      const dropped = yield* client.patch(ConfigMap, target, want({}), { fieldManager: "one" })
      assert.deepStrictEqual(dropped.data, { shared: "1" })
    })
  },
  {
    title: "a patch of an unknown kind is UnsupportedMediaType",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace, transport }) {
      yield* client.create(ConfigMap, configMap("a"), { namespace })
      const path = Resource.path(ConfigMap, { namespace, name: "a" })
      const call = transport.send({
        method: "PATCH",
        path,
        body: {},
        contentType: "application/json",
        context: { verb: "patch", path }
      })
      assert.strictEqual((yield* Effect.flip(call)).reason._tag, "UnsupportedMediaType")
    })
  }
]
