/** Invariants of the generated type table. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import * as Shape from "../../../src/apiserver/scheme/Shape.ts"
import * as types from "../../../src/apiserver/scheme/types.ts"

/** Every type that the served kinds reach. */
const reachable = (): ReadonlyMap<string, types.Type> => {
  const found = new Map<string, types.Type>()
  const form = (one: types.FieldType): void => {
    if (one._tag === "Ref") visit(one.type)
    else if (one._tag !== "Scalar") form(one.element)
  }
  const visit = (id: string): void => {
    if (found.has(id)) return
    const type = types.get(id)
    found.set(id, type)
    for (const field of type.fields.values()) form(field.fieldType)
  }
  for (const resource of resources.all) {
    const type = types.ofKind(resource)
    assert.isDefined(type, resource.kind)
    if (type !== undefined) visit(type.id)
  }
  return found
}

describe("the type table", () => {
  const all = reachable()

  it("equals what its script generates from the installed kubernetes-models", () => {
    const script = fileURLToPath(new URL("../../../scripts/schema-table.mjs", import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
  })

  it("has every served kind, with apiVersion, kind and metadata", () => {
    for (const resource of resources.all) {
      const fields = types.ofKind(resource)?.fields
      assert.deepStrictEqual(fields?.get("apiVersion")?.fieldType, { _tag: "Scalar", scalar: "s" })
      assert.deepStrictEqual(fields?.get("metadata")?.fieldType, { _tag: "Ref", type: "meta.ObjectMeta" })
    }
    assert.isAbove(all.size, 250)
  })

  it("has merge keys that are fields of the elements", () => {
    for (const type of all.values()) {
      for (const [name, { fieldType, patch }] of type.fields) {
        if (fieldType._tag !== "List" || fieldType.element._tag !== "Ref") continue
        const element = types.get(fieldType.element.type)
        const keys = [
          ...(typeof fieldType.merge === "string" ? [] : fieldType.merge),
          ...(patch?.key ? [patch.key] : [])
        ]
        for (const key of keys) assert.isTrue(element.fields.has(key), `${type.id}.${name} by ${key}`)
        // Server-side apply identifies elements by the patch key and possibly other keys, or the list is atomic.
        if (patch?.key && typeof fieldType.merge !== "string") assert.include(fieldType.merge, patch.key)
      }
    }
  })

  it("has sets of scalars only, and defaults of strings only", () => {
    const fields = [...all.values()].flatMap((type) =>
      [...type.fields].map(([name, field]) => ({
        name: `${type.id}.${name}`,
        form: field.fieldType,
        default: field.default
      }))
    )
    const odd = fields.filter(
      ({ default: value, form: fieldType }) =>
        (fieldType._tag === "List" && fieldType.merge === "set" && fieldType.element._tag !== "Scalar") ||
        (value !== undefined && !(fieldType._tag === "Scalar" && fieldType.scalar === "s"))
    )
    assert.deepStrictEqual(
      odd.map(({ name }) => name),
      []
    )
  })

  it("resolves list kinds, and no unknown type", () => {
    assert.deepStrictEqual(
      [...(types.find("core.PodList")?.fields.keys() ?? [])],
      ["apiVersion", "items", "kind", "metadata"]
    )
    assert.deepStrictEqual(types.find("core.NopeList"), undefined)
    assert.deepStrictEqual(types.find("nope.Pod"), undefined)
    assert.deepStrictEqual(types.ofKind({ group: "example.com", version: "v1", kind: "Pod" }), undefined)
    assert.deepStrictEqual(
      types.ofKind({ group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" })?.id,
      "autoscaling2.HorizontalPodAutoscaler"
    )
  })

  it("provides the merge keys of patches", () => {
    const at = (storage: string, ...path: ReadonlyArray<string>) =>
      path.reduce<Shape.Shape | undefined>(Shape.field, resources.shapeOfStorage(storage))
    const ports = at("pods", "spec", "containers", "ports")
    assert.deepStrictEqual(
      [ports?.key, ports?.keys, ports?.keyDefaults],
      ["containerPort", ["containerPort", "protocol"], { protocol: "TCP" }]
    )
    assert.deepStrictEqual(
      [at("pods", "metadata", "finalizers")?.set, at("pods", "metadata", "finalizers")?.patchSet],
      [true, true]
    )
    assert.deepStrictEqual(at("apps/deployments", "spec", "selector")?.atomic, true)
    assert.deepStrictEqual(at("services", "spec", "selector")?.atomic, true)
    // A strategic merge patch merges this list, and server-side apply treats it as atomic.
    const hostIPs = at("pods", "status", "hostIPs")
    assert.deepStrictEqual([hostIPs?.key, Shape.keysOf(hostIPs)], ["ip", []])
    assert.deepStrictEqual(Shape.keysOf(at("nowhere", "metadata", "ownerReferences")), ["uid"])
  })
})
