import { assert, describe, it } from "@effect/vitest"
import * as AttemptToDelete from "../../../src/controllers/garbagecollector/attemptToDelete.ts"
import type { Identity } from "../../../src/controllers/garbagecollector/identity.ts"
import type { Propagation } from "../../../src/controllers/garbagecollector/objects.ts"
import * as Patches from "../../../src/controllers/garbagecollector/patches.ts"
import type { Judged, Standing } from "../../../src/controllers/garbagecollector/plan.ts"
import * as Plan from "../../../src/controllers/garbagecollector/plan.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"

const reference = (uid: string) => ({ apiVersion: "v1", kind: "Thing", name: uid, uid })
const judged = (...standings: ReadonlyArray<Standing>): ReadonlyArray<Judged> =>
  standings.map((standing, i) => ({ reference: reference(`u${i}`), standing }))
const object = (...finalizers: ReadonlyArray<string>): KubeObject => ({ metadata: { name: "a", uid: "a", finalizers } })
const idle = { waitsFor: undefined }
const waiting = { waitsFor: "dependents" } as const

describe("the decision for an object", () => {
  const { plan } = Plan
  const remove = (propagation: Propagation, unblock = false) => ({ _tag: "Delete", propagation, unblock }) as const

  it("without owners is to keep it, whatever its dependents", () => {
    assert.deepStrictEqual(plan(object(), [], [waiting]), { _tag: "Keep" })
  })

  it("with an existing owner is to keep it, and to remove the references to the others", () => {
    assert.deepStrictEqual(plan(object(), judged("solid", "solid"), []), { _tag: "Keep" })
    assert.deepStrictEqual(plan(object(), judged("dangling", "solid", "waiting"), [idle]), {
      _tag: "Strip",
      owners: ["u0", "u2"]
    })
  })

  it("keeps the reference to an owner that it names twice, once with a wrong name", () => {
    const twice: ReadonlyArray<Judged> = [
      { reference: reference("same"), standing: "solid" },
      { reference: { ...reference("same"), name: "other" }, standing: "dangling" }
    ]
    assert.deepStrictEqual(plan(object(), twice, []), { _tag: "Keep" })
  })

  it("without an existing owner is to delete it, in the background unless its finalizers say otherwise", () => {
    assert.deepStrictEqual(plan(object(), judged("dangling"), [waiting]), remove("Background"))
    assert.deepStrictEqual(plan(object("foregroundDeletion"), judged("dangling"), []), remove("Foreground"))
    assert.deepStrictEqual(plan(object("orphan", "a.b/c"), judged("dangling"), []), remove("Orphan"))
  })

  it("is a foreground deletion while an owner waits and it has dependents itself", () => {
    assert.deepStrictEqual(plan(object(), judged("waiting", "dangling"), [idle]), remove("Foreground"))
    assert.deepStrictEqual(plan(object(), judged("waiting"), []), remove("Background"))
    assert.deepStrictEqual(plan(object("orphan"), judged("waiting"), [idle]), remove("Foreground"))
  })

  it("clears blockOwnerDeletion first if a dependent waits in foreground deletion, because that may be a cycle", () => {
    assert.deepStrictEqual(plan(object(), judged("waiting"), [idle, waiting]), remove("Foreground", true))
  })
})

describe("the standing of an owner", () => {
  const standing = (deleting: boolean, ...finalizers: ReadonlyArray<string>) =>
    Plan.standingOf({
      metadata: {
        ...object(...finalizers).metadata,
        ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {})
      }
    })

  it("is waiting during foreground deletion, with the orphan finalizer beside it too", () => {
    assert.strictEqual(standing(false), "solid")
    assert.strictEqual(standing(false, "foregroundDeletion"), "solid")
    assert.strictEqual(standing(true, "a.b/c"), "solid")
    assert.strictEqual(standing(true, "foregroundDeletion"), "waiting")
    assert.strictEqual(standing(true, "orphan"), "solid")
    assert.strictEqual(standing(true, "orphan", "foregroundDeletion"), "waiting")
  })
})

describe("patches", () => {
  const live: KubeObject = {
    metadata: {
      name: "a",
      uid: "a",
      resourceVersion: "7",
      finalizers: ["a.b/c", "orphan"],
      ownerReferences: [{ ...reference("x"), blockOwnerDeletion: true }, reference("y")]
    }
  }

  it("remove references by uid, of that object only", () => {
    const change = Patches.strip("a", ["x"])
    assert.deepStrictEqual(change.strategic, {
      type: "strategic",
      body: { metadata: { uid: "a", ownerReferences: [{ $patch: "delete", uid: "x" }] } }
    })
    assert.deepStrictEqual(change.merge(live), {
      type: "merge",
      body: { metadata: { resourceVersion: "7", ownerReferences: [reference("y")] } }
    })
  })

  it("replace blocking references", () => {
    const change = Patches.unblock(live)
    assert.deepStrictEqual(change.strategic.body, {
      metadata: { uid: "a", ownerReferences: [{ ...reference("x"), blockOwnerDeletion: false }] }
    })
    assert.deepStrictEqual(change.merge(live).body, {
      metadata: {
        resourceVersion: "7",
        ownerReferences: [
          { ...reference("x"), blockOwnerDeletion: false },
          { ...reference("y"), blockOwnerDeletion: false }
        ]
      }
    })
  })

  it("remove one finalizer, at one resourceVersion", () => {
    assert.deepStrictEqual(Patches.withoutFinalizer(live, "orphan"), {
      type: "merge",
      body: { metadata: { resourceVersion: "7", finalizers: ["a.b/c"] } }
    })
  })
})

describe("absent owners", () => {
  const identity = (uid: string, namespace = ""): Identity => ({
    uid,
    apiVersion: "v1",
    kind: "Thing",
    namespace,
    name: "a"
  })

  it("are found by their whole identity, and dropped by least use", () => {
    const absent = AttemptToDelete.absentOwners(2)
    absent.add(identity("a"))
    absent.add(identity("b"))
    assert.isFalse(absent.has(identity("a", "red")))
    assert.isTrue(absent.has(identity("a")))
    absent.add(identity("c"))
    assert.deepStrictEqual(
      [absent.has(identity("a")), absent.has(identity("b")), absent.has(identity("c"))],
      [true, false, true]
    )
  })
})
