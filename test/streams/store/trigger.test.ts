import { assert, describe, it } from "@effect/vitest"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"

const reference = (name: string, extra: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name,
  uid: name,
  controller: true,
  ...extra
})
const pod = (...ownerReferences: ReadonlyArray<OwnerReference>): KubeObject => ({
  metadata: { name: "p", namespace: "ns", ownerReferences }
})
const created = (object: KubeObject): Delta<KubeObject> => ({ _tag: "Created", object, initial: false })
const updated = (previous: KubeObject, object: KubeObject): Delta<KubeObject> => ({ _tag: "Updated", object, previous })

describe("triggers", () => {
  const replicaSets = { group: "apps", kind: "ReplicaSet" }

  it("self returns the object's key, for any delta", () => {
    assert.deepStrictEqual(Trigger.self(created(pod())), ["ns/p"])
    assert.deepStrictEqual(Trigger.self({ _tag: "Deleted", object: pod(), stateUnknown: true }), ["ns/p"])
    assert.deepStrictEqual(Trigger.self(created({ metadata: { name: "node" } })), ["node"])
  })

  it("owner matches group and kind in any version, and only the controlling owner", () => {
    const owner = Trigger.owner(replicaSets)
    const others = [
      reference("v2", { apiVersion: "apps/v2" }),
      reference("other-group", { apiVersion: "extensions/v1" }),
      reference("core", { apiVersion: "v1" }),
      reference("other-kind", { kind: "StatefulSet" }),
      reference("plain", { controller: false })
    ]
    assert.deepStrictEqual(owner(created(pod(...others))), ["ns/v2"])
    assert.deepStrictEqual(owner(created({ metadata: { name: "p", namespace: "ns" } })), [])
    const every = Trigger.owner(replicaSets, { controllerOnly: false })
    assert.deepStrictEqual(every(created(pod(...others))), ["ns/v2", "ns/plain"])
    assert.deepStrictEqual(Trigger.owner({ group: "", kind: "ReplicaSet" })(created(pod(...others))), ["ns/core"])
  })

  it("a change of the owner queues both owners, each once", () => {
    const owner = Trigger.owner(replicaSets)
    assert.deepStrictEqual(owner(updated(pod(reference("old")), pod(reference("new")))), ["ns/new", "ns/old"])
    assert.deepStrictEqual(owner(updated(pod(reference("same")), pod(reference("same")))), ["ns/same"])
  })

  it("a cluster-scoped owner has no namespace", () => {
    const owner = Trigger.owner({ group: "", kind: "Node", scope: "Cluster" })
    assert.deepStrictEqual(owner(created(pod(reference("n1", { apiVersion: "v1", kind: "Node" })))), ["n1"])
  })

  it("annotation queues an owner in any namespace, and ignores a value that is not a key", () => {
    const annotated = (value: string): KubeObject => ({
      metadata: { name: "p", namespace: "ns", annotations: { "example.com/owner": value } }
    })
    const owner = Trigger.annotation("example.com/owner")
    assert.deepStrictEqual(owner(created(annotated("other/web"))), ["other/web"])
    assert.deepStrictEqual(owner(updated(annotated("other/old"), annotated("other/new"))), ["other/new", "other/old"])
    for (const value of ["", "web", "/web", "other/", "a/b/c"]) {
      assert.deepStrictEqual(owner(created(annotated(value))), [], value)
    }
    assert.deepStrictEqual(owner(created(pod())), [])
    assert.deepStrictEqual(Trigger.annotation("toString")(created(annotated("other/web"))), [])
    const node = Trigger.annotation("example.com/owner", { scope: "Cluster" })
    assert.deepStrictEqual(node(created(annotated("n1"))), ["n1"])
    assert.deepStrictEqual(node(created(annotated("other/n1"))), [])
  })

  it("index finds the objects of another store that refer to the object", () => {
    const store = Store.make<KubeObject>()
    store.addIndex("secret", (object) => Object.keys(object.metadata.annotations ?? {}))
    const user = (name: string, ...secrets: ReadonlyArray<string>): KubeObject => ({
      metadata: { name, namespace: "ns", annotations: Object.fromEntries(secrets.map((secret) => [secret, ""])) }
    })
    store.apply({ _tag: "Restarted" })
    store.apply({ _tag: "Listed", objects: [user("a", "ns/s", "ns/t"), user("b", "ns/s"), user("c")] })
    store.apply({ _tag: "Synced", resourceVersion: "1" })
    const secret: KubeObject = { metadata: { name: "s", namespace: "ns" } }
    assert.deepStrictEqual(Trigger.index(store, "secret")(created(secret)), ["ns/a", "ns/b"])
    const both = Trigger.index<KubeObject>(store, "secret", () => ["ns/t", "ns/s"])
    assert.deepStrictEqual(both(created(secret)), ["ns/a", "ns/b"])
  })

  it("map returns the keys of the new and the previous object, and all combines triggers", () => {
    const byUid = Trigger.map<KubeObject>((object) => [object.metadata.uid ?? "none"])
    const one: KubeObject = { metadata: { name: "x", uid: "1" } }
    const two: KubeObject = { metadata: { name: "x", uid: "2" } }
    assert.deepStrictEqual(byUid(updated(one, two)), ["2", "1"])
    assert.deepStrictEqual(byUid(updated(one, one)), ["1"])
    assert.deepStrictEqual(Trigger.all(byUid, Trigger.self, byUid)(created(one)), ["1", "x"])
  })
})
