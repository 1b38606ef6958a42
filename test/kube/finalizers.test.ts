import { assert, describe, it } from "@effect/vitest"
import * as Finalizers from "../../src/kube/finalizers.ts"

describe("finalizers", () => {
  const names = ["a", "b"]

  it("add appends missing names once, and returns the same list if none is missing", () => {
    assert.deepStrictEqual(Finalizers.add(names, "c", "a", "c", "d"), ["a", "b", "c", "d"])
    assert.strictEqual(Finalizers.add(names, "b", "a"), names)
    assert.strictEqual(Finalizers.add(names), names)
  })

  it("remove keeps the order of the others, and returns the same list if the name is not there", () => {
    assert.deepStrictEqual(Finalizers.remove(["a", "b", "c"], "b"), ["a", "c"])
    assert.strictEqual(Finalizers.remove(names, "c"), names)
  })

  it("of returns the finalizers of the metadata, and isDeleting is true once there is a deletionTimestamp", () => {
    const object = { metadata: { name: "x", finalizers: names, deletionTimestamp: "2026-01-01T00:00:00Z" } }
    assert.isTrue(Finalizers.has(object, "a"))
    assert.isFalse(Finalizers.has({ metadata: { name: "x" } }, "a"))
    assert.isTrue(Finalizers.isDeleting(object))
    assert.isFalse(Finalizers.isDeleting({ metadata: { name: "x", finalizers: names } }))
  })
})
