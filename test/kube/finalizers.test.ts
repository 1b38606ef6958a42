import { assert, describe, it } from "@effect/vitest"
import * as Finalizers from "../../src/kube/finalizers.ts"

describe("finalizers", () => {
  const names = ["a", "b"]

  it("add puts what is missing at the end, once, and is the very same list when nothing is", () => {
    assert.deepStrictEqual(Finalizers.add(names, "c", "a", "c", "d"), ["a", "b", "c", "d"])
    assert.strictEqual(Finalizers.add(names, "b", "a"), names)
    assert.strictEqual(Finalizers.add(names), names)
  })

  it("remove keeps the others in their order, and is the very same list when the name is not there", () => {
    assert.deepStrictEqual(Finalizers.remove(["a", "b", "c"], "b"), ["a", "c"])
    assert.strictEqual(Finalizers.remove(names, "c"), names)
  })

  it("an object has those of its metadata, and is being deleted from the time of the request on", () => {
    const object = { metadata: { name: "x", finalizers: names, deletionTimestamp: "2026-01-01T00:00:00Z" } }
    assert.isTrue(Finalizers.has(object, "a"))
    assert.isFalse(Finalizers.has({ metadata: { name: "x" } }, "a"))
    assert.isTrue(Finalizers.isDeleting(object))
    assert.isFalse(Finalizers.isDeleting({ metadata: { name: "x", finalizers: names } }))
  })
})
