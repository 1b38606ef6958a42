import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { ObjectMeta, OwnerReference } from "../../src/kube/Meta.ts"
import * as Owner from "../../src/kube/Owner.ts"
import { Node, ReplicaSet, ReplicationController } from "../../src/kube/resources.ts"

const reference = (uid: string, controller?: boolean): OwnerReference => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: uid,
  uid,
  ...(controller === undefined ? {} : { controller })
})

const object = (...ownerReferences: ReadonlyArray<OwnerReference>) => ({ metadata: { name: "a", ownerReferences } })

describe("Owner", () => {
  it("controllerOf finds the reference with controller: true", () => {
    assert.strictEqual(
      Owner.controllerOf(object(reference("a"), reference("b", false), reference("c", true)))?.uid,
      "c"
    )
    assert.isUndefined(Owner.controllerOf(object(reference("a"), reference("b", false))))
    assert.isUndefined(Owner.controllerOf({ metadata: { name: "a" } }))
  })

  it("controllerOf takes the first of several controllers, which no server stores", () => {
    assert.strictEqual(Owner.controllerOf(object(reference("a", true), reference("b", true)))?.uid, "a")
  })

  it("an owner is identified by uid; an empty uid matches no owner", () => {
    assert.isTrue(Owner.controlledBy(object(reference("a", true)), "a"))
    assert.isFalse(Owner.controlledBy(object(reference("a", true)), "b"))
    assert.isFalse(Owner.controlledBy(object(reference("a", false)), "a"))
    assert.isFalse(Owner.controlledBy(object(), undefined))
  })

  it("reference blocks a foreground deletion of the owner until the dependent is gone", () => {
    const owner = { metadata: { name: "web", uid: "u1" } }
    assert.deepStrictEqual(Owner.reference(ReplicaSet, owner), {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: "web",
      uid: "u1",
      controller: true,
      blockOwnerDeletion: true
    })
    assert.strictEqual(Owner.reference(ReplicationController, owner).apiVersion, "v1")
  })
})

describe("Owner.set", () => {
  const owner = { metadata: { name: "web", namespace: "a", uid: "u1" } }
  const draft: { readonly metadata: Partial<ObjectMeta>; readonly spec?: object } = {
    metadata: { name: "pod", namespace: "a" },
    spec: {}
  }
  const mine = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u1" }
  const controlling = { ...mine, controller: true, blockOwnerDeletion: true }

  const refusal = (...args: Parameters<typeof Owner.set>) => {
    const result = Owner.set(...args)
    return Result.isFailure(result) ? [result.failure.reason._tag, result.failure.message] : undefined
  }
  const references = (...args: Parameters<typeof Owner.set>) =>
    Result.getOrThrow(Owner.set(...args)).metadata.ownerReferences

  it("adds a controlling or a plain reference, and changes nothing else", () => {
    assert.deepStrictEqual(Result.getOrThrow(Owner.set(draft, { resource: ReplicaSet, owner })), {
      metadata: { name: "pod", namespace: "a", ownerReferences: [controlling] },
      spec: {}
    })
    const plain = { resource: ReplicaSet, owner, controller: false, blockOwnerDeletion: false }
    assert.deepStrictEqual(references(draft, plain), [mine])
    assert.notProperty(draft.metadata, "ownerReferences")
  })

  it("replaces a reference of another version or uid in its place, and keeps the other owners", () => {
    const [first, last] = [reference("other"), reference("last")]
    const older = { ...controlling, apiVersion: "apps/v1beta1", uid: "gone" }
    const dependent = { metadata: { ...draft.metadata, ownerReferences: [first, older, last] } }
    assert.deepStrictEqual(references(dependent, { resource: ReplicaSet, owner }), [first, controlling, last])
    const again = Result.getOrThrow(Owner.set(dependent, { resource: ReplicaSet, owner }))
    assert.deepStrictEqual(Owner.set(again, { resource: ReplicaSet, owner }), Result.succeed(again))
  })

  it("refuses a reference that the garbage collector would treat as dangling, and a second controller", () => {
    const elsewhere = { metadata: { name: "pod", namespace: "b" } }
    const nowhere = { metadata: { name: "pod" } }
    const notStored = { metadata: { name: "web", namespace: "a" } }
    const theirs = { metadata: { ...draft.metadata, ownerReferences: [reference("other", true)] } }
    const of = (object: typeof notStored) => ({ resource: ReplicaSet, owner: object })
    assert.deepStrictEqual(refusal(elsewhere, of(owner)), [
      "CrossNamespace",
      'ReplicaSet "web" cannot own "pod": they are in the namespaces a and b'
    ])
    assert.strictEqual(refusal(nowhere, of(owner))?.[0], "ClusterScopedDependent")
    assert.strictEqual(refusal(draft, of(notStored))?.[0], "NotStored")
    assert.deepStrictEqual(refusal(theirs, of(owner)), [
      "AlreadyOwned",
      'ReplicaSet "web" cannot own "pod": ReplicaSet "other" controls it already'
    ])
    assert.isUndefined(refusal(theirs, { ...of(owner), controller: false }))
    const node = { metadata: { name: "n1", uid: "u2" } }
    assert.isUndefined(refusal(draft, { resource: Node, owner: node }))
    assert.isUndefined(refusal(nowhere, { resource: Node, owner: node }))
  })

  it("has and remove identify the owner by uid", () => {
    const owned = Result.getOrThrow(Owner.set(draft, { resource: ReplicaSet, owner }))
    const namesake = { metadata: { ...owner.metadata, uid: "u9" } }
    assert.isTrue(Owner.has(owned, owner))
    assert.isFalse(Owner.has(owned, namesake))
    assert.isFalse(Owner.has(draft, { metadata: { name: "web" } }))
    assert.strictEqual(Owner.remove(owned, namesake), owned)
    assert.deepStrictEqual(Owner.remove(owned, owner).metadata, { ...draft.metadata, ownerReferences: [] })
  })
})
