import { assert, describe, it } from "@effect/vitest"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Pod } from "../../../src/kube/resources.ts"
import { trim, withoutManagedFields } from "../../../src/streams/watch/decode.ts"

setFlagsFromString("--allow-natives-syntax")
const isFast = runInNewContext("(object) => %HasFastProperties(object)") as (object: object) => boolean

const parsed = (metadata: object) => JSON.parse(JSON.stringify({ metadata, spec: { x: 1 } }))
const managedFields = [{ manager: "kubectl" }]

describe("trim", () => {
  it("removes only managedFields, and sets apiVersion and kind", () => {
    const object = parsed({ name: "a", labels: { x: "y" }, managedFields })
    const trimmed = trim(Pod)(object)
    assert.strictEqual(trimmed, object)
    const expected: unknown = {
      metadata: { name: "a", labels: { x: "y" } },
      spec: { x: 1 },
      apiVersion: "v1",
      kind: "Pod"
    }
    assert.deepStrictEqual<unknown>(trimmed, expected)
  })

  it("keeps apiVersion, kind and, if asked, managedFields", () => {
    const object = { apiVersion: "apps/v1", kind: "Deployment", ...parsed({ name: "a", managedFields }) }
    const before = structuredClone(object)
    assert.deepStrictEqual(trim(Pod, true)(object), before)
    const without = { apiVersion: "apps/v1", kind: "Deployment", ...parsed({ name: "a" }) }
    assert.deepStrictEqual(trim(Pod)(structuredClone(without)), without)
  })

  it("leaves objects in V8's fast mode, wherever managedFields stood", () => {
    for (const metadata of [
      { name: "a", uid: "u", managedFields },
      { managedFields, name: "a", uid: "u" },
      { name: "a", managedFields, uid: "u" }
    ]) {
      const trimmed = trim(Pod)(parsed(metadata))
      assert.deepStrictEqual(trimmed.metadata, { name: "a", uid: "u" })
      assert.isTrue(isFast(trimmed) && isFast(trimmed.metadata))
    }
    const slow = { name: "a", managedFields, uid: "u" } as { name?: string }
    delete slow.name
    assert.isFalse(isFast(slow))
  })

  it("a field with the name of a property of Object.prototype is kept", () => {
    const metadata = JSON.parse('{"managedFields":[],"constructor":"c","toString":"t"}')
    assert.deepStrictEqual(withoutManagedFields(metadata), JSON.parse('{"constructor":"c","toString":"t"}'))
  })
})
