import { assert, describe, it } from "@effect/vitest"
import type { OwnerReference } from "../../src/kube/Meta.ts"
import * as Owner from "../../src/kube/Owner.ts"
import { ReplicaSet, ReplicationController } from "../../src/kube/resources.ts"

const reference = (uid: string, controller?: boolean): OwnerReference => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: uid,
  uid,
  ...(controller === undefined ? {} : { controller })
})

const object = (...ownerReferences: ReadonlyArray<OwnerReference>) => ({ metadata: { name: "a", ownerReferences } })

describe("Owner", () => {
  it("finds the one reference that controls", () => {
    assert.strictEqual(
      Owner.controllerOf(object(reference("a"), reference("b", false), reference("c", true)))?.uid,
      "c"
    )
    assert.isUndefined(Owner.controllerOf(object(reference("a"), reference("b", false))))
    assert.isUndefined(Owner.controllerOf({ metadata: { name: "a" } }))
  })

  it("takes the first of several controllers, which no server stores", () => {
    assert.strictEqual(Owner.controllerOf(object(reference("a", true), reference("b", true)))?.uid, "a")
  })

  it("tells identity by uid, and no uid is nobody's", () => {
    assert.isTrue(Owner.controlledBy(object(reference("a", true)), "a"))
    assert.isFalse(Owner.controlledBy(object(reference("a", true)), "b"))
    assert.isFalse(Owner.controlledBy(object(reference("a", false)), "a"))
    assert.isFalse(Owner.controlledBy(object(), undefined))
  })

  it("refers to an owner so that a foreground deletion waits for the dependent", () => {
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
