/** The type table is data that nobody proof-reads: what must hold of every line of it. */
import { assert, describe, it } from "@effect/vitest"
import * as kinds from "../../../../src/layers/apiserver/schema/kinds.ts"
import * as Shape from "../../../../src/layers/apiserver/schema/Shape.ts"
import * as types from "../../../../src/layers/apiserver/schema/types.ts"
import { same } from "../client.ts"

/** Every type that the served kinds reach. */
const reachable = (): ReadonlyMap<string, types.Type> => {
  const found = new Map<string, types.Type>()
  const form = (one: types.Form): void => {
    if (one._tag === "Ref") visit(one.type)
    else if (one._tag !== "Scalar") form(one.element)
  }
  const visit = (id: string): void => {
    if (found.has(id)) return
    const type = types.get(id)
    found.set(id, type)
    for (const field of type.fields.values()) form(field.form)
  }
  for (const kind of kinds.all) {
    const type = types.ofKind(kind)
    assert.isDefined(type, kind.kind)
    visit(type!.id)
  }
  return found
}

describe("the type table", () => {
  const all = reachable()

  it("knows every kind that is served, with its identity and metadata", () => {
    for (const kind of kinds.all) {
      const fields = types.ofKind(kind)?.fields
      same(fields?.get("apiVersion")?.form, { _tag: "Scalar", scalar: "s" })
      same(fields?.get("metadata")?.form, { _tag: "Ref", type: "meta.ObjectMeta" })
    }
    assert.isAbove(all.size, 250)
  })

  it("merges lists by members that their elements have", () => {
    for (const type of all.values()) {
      for (const [name, { form, patch }] of type.fields) {
        if (form._tag !== "List" || form.element._tag !== "Ref") continue
        const element = types.get(form.element.type)
        const keys = [...(typeof form.merge === "string" ? [] : form.merge), ...(patch?.key ? [patch.key] : [])]
        for (const key of keys) assert.isTrue(element.fields.has(key), `${type.id}.${name} by ${key}`)
        // Apply tells elements apart by more than a patch does, or not at all.
        if (patch?.key && typeof form.merge !== "string") assert.include(form.merge, patch.key)
      }
    }
  })

  it("has sets only of scalars, and defaults only of texts", () => {
    for (const type of all.values()) {
      for (const [name, { default: value, form }] of type.fields) {
        if (form._tag === "List" && form.merge === "set") same(form.element._tag, "Scalar", `${type.id}.${name}`)
        if (value !== undefined) same(form, { _tag: "Scalar", scalar: "s" }, `${type.id}.${name}`)
      }
    }
  })

  it("finds the lists of kinds, and nothing else that is not there", () => {
    same([...(types.find("core.PodList")?.fields.keys() ?? [])], ["apiVersion", "items", "kind", "metadata"])
    same(types.find("core.NopeList"), undefined)
    same(types.find("nope.Pod"), undefined)
    same(types.ofKind({ group: "example.com", version: "v1", kind: "Pod" }), undefined)
    same(
      types.ofKind({ group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" })?.id,
      "autoscaling2.HorizontalPodAutoscaler"
    )
  })

  it("is where patches take their merge keys from", () => {
    const at = (storage: string, ...path: ReadonlyArray<string>) =>
      path.reduce<Shape.Shape | undefined>(Shape.field, Shape.of(storage))
    const ports = at("pods", "spec", "containers", "ports")
    same(
      [ports?.key, ports?.keys, ports?.keyDefaults],
      ["containerPort", ["containerPort", "protocol"], { protocol: "TCP" }]
    )
    same([at("pods", "metadata", "finalizers")?.set, at("pods", "metadata", "finalizers")?.patchSet], [true, true])
    same(at("apps/deployments", "spec", "selector")?.atomic, true)
    same(at("services", "spec", "selector")?.atomic, true)
    // Merged by a patch, replaced by an apply.
    const hostIPs = at("pods", "status", "hostIPs")
    same([hostIPs?.key, Shape.keysOf(hostIPs)], ["ip", []])
    same(Shape.keysOf(at("nowhere", "metadata", "ownerReferences")), ["uid"])
  })
})
