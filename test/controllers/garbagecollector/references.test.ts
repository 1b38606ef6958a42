/** Owner references compared with the coordinates of their owner. Source: pkg/controller/garbagecollector: partitionDependents, getAlternateOwnerIdentity. */
import { assert, describe, it } from "@effect/vitest"
import type * as Identity from "../../../src/controllers/garbagecollector/identity.ts"
import * as References from "../../../src/controllers/garbagecollector/references.ts"
import type { OwnerReference } from "../../../src/kube/Meta.ts"
import { identity, to } from "./coordinates.ts"

const dependent = (uid: string, namespace: string, ...owners: ReadonlyArray<OwnerReference>) => ({
  identity: identity(uid, { namespace }),
  owners
})

const uidsOf = (nodes: ReadonlyArray<{ readonly identity: Identity.Identity }>) =>
  nodes.map((node) => node.identity.uid)

describe("References.blocks", () => {
  it("is true for an owner whose own reference has blockOwnerDeletion", () => {
    const references = [to("a", { blockOwnerDeletion: true }), to("b", { blockOwnerDeletion: false }), to("c")]
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((uid) => References.blocks(references, uid)),
      [true, false, false, false]
    )
  })
})

describe("References.namesSame", () => {
  it("compares uid, name, kind and version, and no flags", () => {
    const reference = to("a")
    assert.isTrue(References.namesSame(reference, to("a", { blockOwnerDeletion: true, controller: true })))
    for (const other of [{ uid: "b" }, { name: "b" }, { kind: "Other" }, { apiVersion: "v2" }])
      assert.isFalse(References.namesSame(reference, to("a", other)), JSON.stringify(other))
  })
})

describe("References.doubt", () => {
  const doubt = (owner: Partial<Identity.Identity>, isObserved: boolean, namespace: string, reference = to("a")) =>
    References.doubt({ identity: identity("a", owner), isObserved }, reference, namespace)

  it("has none about an owner in the same namespace, or an observed cluster-scoped owner", () => {
    assert.isUndefined(doubt({}, true, "red"))
    assert.isUndefined(doubt({}, false, "red"))
    assert.isUndefined(doubt({ namespace: "" }, true, "red"))
    assert.isUndefined(doubt({ namespace: "" }, true, ""))
    assert.isUndefined(doubt({ namespace: "" }, false, ""))
  })

  it("is misplaced for an owner that was observed in another namespace, and doubtful for one that was not observed", () => {
    for (const namespace of ["blue", ""]) {
      assert.strictEqual(doubt({}, true, namespace), "misplaced")
      assert.strictEqual(doubt({}, false, namespace), "doubtful")
    }
  })

  it("is doubtful for a reference with another name, kind or version", () => {
    for (const other of [{ name: "b" }, { kind: "Other" }, { apiVersion: "v2" }])
      assert.strictEqual(doubt({}, true, "red", to("a", other)), "doubtful", JSON.stringify(other))
  })

  it("is doubtful for a namespaced dependent of an owner that only a cluster-scoped dependent names", () => {
    assert.strictEqual(doubt({ namespace: "" }, false, "red"), "doubtful")
  })
})

describe("References.partition", () => {
  const partition = (owner: Identity.Identity, ...dependents: ReadonlyArray<ReturnType<typeof dependent>>) => {
    const { matching, mistaken } = References.partition(dependents, owner)
    return { matching: uidsOf(matching), mistaken: uidsOf(mistaken) }
  }
  const other = to("unrelated")

  it("separates dependents by their references to the owner, and ignores those to other owners", () => {
    assert.deepStrictEqual(
      partition(
        identity("a"),
        dependent("right", "red", other, to("a"), other),
        dependent("renamed", "red", other, to("a", { name: "b" })),
        dependent("elsewhere", "blue", to("a")),
        dependent("stranger", "red", other)
      ),
      { matching: ["right"], mistaken: ["renamed", "elsewhere"] }
    )
  })

  it("has a dependent in both lists if one of its references to the owner is right and another is not", () => {
    const twice = dependent("twice", "red", to("a"), to("a", { name: "b" }))
    assert.deepStrictEqual(partition(identity("a"), twice), { matching: ["twice"], mistaken: ["twice"] })
  })

  it("accepts dependents in any namespace for a cluster-scoped owner", () => {
    const found = partition(
      identity("a", { namespace: "" }),
      dependent("b", "red", to("a")),
      dependent("c", "", to("a"))
    )
    assert.deepStrictEqual(found, { matching: ["b", "c"], mistaken: [] })
  })
})

describe("References.alternative", () => {
  const named = (name: string, options: Partial<OwnerReference> = {}) => to("a", { name, ...options })
  const shown = (found: Identity.Identity | undefined) =>
    found && [found.kind, found.apiVersion, `${found.namespace}/${found.name}`, found.uid].join(" ")
  const alternative = (absent: Identity.Identity, ...dependents: ReadonlyArray<ReturnType<typeof dependent>>) =>
    shown(References.alternative(dependents, absent))

  it("is undefined while all dependents have the coordinates that are absent", () => {
    assert.isUndefined(alternative(identity("a"), dependent("b", "red", to("a"), to("other", { name: "x" }))))
    assert.isUndefined(alternative(identity("a")))
  })

  it("is the next one in the order of kind, version, namespace and name, and the first one after the last", () => {
    const dependents = [
      dependent("b", "red", to("unrelated"), named("c"), named("x")),
      dependent("c", "blue", named("b")),
      dependent("d", "red", named("a", { kind: "Other" })),
      dependent("e", "red", named("a", { apiVersion: "v2" }))
    ]
    const order = [
      { kind: "Other" },
      { namespace: "blue", name: "b" },
      { name: "c" },
      { name: "x" },
      { apiVersion: "v2" }
    ].map((one) => identity("a", one))
    for (const [i, absent] of order.entries())
      assert.strictEqual(alternative(absent, ...dependents), shown(order[(i + 1) % order.length]))
  })

  it("is the same coordinates again if dependents have no others", () => {
    assert.strictEqual(alternative(identity("a"), dependent("b", "red", named("b"))), "Thing v1 red/b a")
    assert.strictEqual(
      alternative(identity("a", { name: "b" }), dependent("b", "red", named("b"), named("a"))),
      "Thing v1 red/a a"
    )
  })

  it("has no namespace for a kind that is known to be cluster-scoped", () => {
    const absent = identity("a", { namespace: "" })
    assert.strictEqual(alternative(absent, dependent("b", "red", named("b"))), "Thing v1 /b a")
    assert.strictEqual(alternative(absent, dependent("b", "red", named("b", { kind: "Other" }))), "Other v1 red/b a")
    assert.strictEqual(alternative(absent, dependent("b", "red", named("b", { apiVersion: "v2" }))), "Thing v2 red/b a")
    assert.strictEqual(alternative(identity("a"), dependent("b", "blue", named("b"))), "Thing v1 blue/b a")
  })
})
