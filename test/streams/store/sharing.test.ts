/** What objects of one store have in common. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { share } from "../../../src/streams/store/sharing.ts"
import * as Store from "../../../src/streams/store/Store.ts"

/** Names and values that are often equal, among them names that every object inherits. */
const name = Schema.Literals(["a", "b", "constructor", "__proto__", "toString"])
const Leaf = Schema.NullOr(Schema.Literals([0, 1, "x", "a text that is long", "another long text", true]))
const Level = <A extends Schema.Top>(inner: A) =>
  Schema.Union([Leaf, Schema.Array(inner), Schema.Array(Schema.Tuple([name, inner]))])
const Nested = Level(Level(Level(Leaf)))

/** Pairs become fields, as in text that was parsed: `__proto__` is a field like others. */
const parsed = (value: unknown): unknown => {
  const text = (one: unknown): string => {
    if (!Array.isArray(one)) return JSON.stringify(one)
    const isFields =
      one.length > 0 && one.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === "string")
    const parts = isFields
      ? [...new Map(one as Array<[string, unknown]>)].map(([key, part]) => `${JSON.stringify(key)}:${text(part)}`)
      : one.map(text)
    return isFields ? `{${parts.join()}}` : `[${parts.join()}]`
  }
  return JSON.parse(text(value))
}

const parts = (value: unknown): Array<object> =>
  typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(parts)] : []

const pod = (pod: string, version: string, { app = "web", owner = "set", phase = "Running" } = {}): KubeObject =>
  JSON.parse(
    JSON.stringify({
      metadata: {
        name: pod,
        namespace: "default",
        uid: `uid-${pod}`,
        resourceVersion: version,
        labels: { app },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `uid-${owner}` }]
      },
      spec: { containers: [{ name: "main", image: "example.test/main:1" }], nodeName: `node-of-${pod}` },
      status: { phase }
    })
  ) as KubeObject

interface Parts extends KubeObject {
  readonly spec: { readonly containers: unknown; readonly nodeName: string }
  readonly status: object
}

const changed = (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject) =>
  ({
    _tag: "Changed",
    events: [{ type, object }],
    resourceVersion: object.metadata.resourceVersion ?? ""
  }) as const

const synced = (...objects: ReadonlyArray<KubeObject>) => {
  const store = Store.make()
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects })
  store.apply({ _tag: "Synced", resourceVersion: "9" })
  const get = (pod: string) => store.get(`default/${pod}`) as Parts | undefined
  return { store, get }
}

describe("objects that have parts in common", () => {
  it.prop(
    "are the same values as before, and share every part that is equal in the same place",
    { before: Arbitrary.schema(Nested), after: Arbitrary.schema(Nested) },
    ({ after, before }) => {
      const [was, is] = [parsed(before), parsed(after)]
      const result = share(was, is)
      assert.strictEqual(JSON.stringify(was), JSON.stringify(parsed(before)))
      assert.deepStrictEqual(result, parsed(after))
      assert.isFalse(parts(result).includes(Object.prototype))
      if (JSON.stringify(was) === JSON.stringify(is) && typeof was === "object") assert.strictEqual(result, was)
      return true
    }
  )

  it("share parts in objects that differ elsewhere, and items of lists of another length", () => {
    const before = { spec: { containers: [{ name: "a" }, { name: "b" }] }, status: { phase: "Pending" } }
    const after = share(before, { spec: { containers: [{ name: "a" }] }, status: { phase: "Pending" } })
    assert.strictEqual(after.status, before.status)
    assert.notStrictEqual(after.spec, before.spec)
    assert.strictEqual(after.spec.containers[0], before.spec.containers[0])
  })

  it("are values of JSON: what a transform has put into an object, such as a Date or a Map, is its own", () => {
    const made = (day: number) => ({ at: new Date(day), seen: new Map([["day", day]]), list: [new Date(day)] })
    assert.deepStrictEqual(share(made(1), made(2)), made(2))
  })

  it("may be frozen by a transform", () => {
    const made = (name: string) => ({
      name,
      spec: Object.freeze({ rest: Object.freeze([{ image: "an image" }]), name })
    })
    assert.deepStrictEqual(share(made("a"), made("b")), made("b"))
  })

  it("are left as they are below a depth that the stack has no room for", () => {
    const deep = () => JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown
    assert.isTrue(Array.isArray(share(deep(), deep())))
  })

  it("are those of one owner in a list, and those that are created later", () => {
    const { get, store } = synced(pod("a", "1"), pod("b", "2"), pod("x", "3", { owner: "other" }))
    store.apply(changed("ADDED", pod("c", "10")))
    const [a, b, c, x] = ["a", "b", "c", "x"].map(get)
    for (const sibling of [b, c]) {
      assert.strictEqual(sibling?.spec.containers, a?.spec.containers)
      assert.strictEqual(sibling?.metadata.ownerReferences, a?.metadata.ownerReferences)
      assert.strictEqual(sibling?.status, a?.status)
      assert.notStrictEqual(sibling?.spec.nodeName, a?.spec.nodeName)
    }
    assert.deepStrictEqual(x, pod("x", "3", { owner: "other" }) as Parts)
    assert.notStrictEqual(x?.spec.containers, a?.spec.containers)
  })

  it("are two states of one object, also after the object that it was shared with is gone", () => {
    const { get, store } = synced(pod("a", "1"), pod("b", "2"))
    const before = get("b")
    store.apply(changed("DELETED", pod("a", "10")))
    store.apply(changed("MODIFIED", pod("b", "11", { phase: "Failed" })))
    const after = get("b")
    assert.deepStrictEqual(after, pod("b", "11", { phase: "Failed" }) as Parts)
    assert.strictEqual(after?.spec, before?.spec)
    assert.strictEqual(after?.metadata.labels, before?.metadata.labels)
    store.apply(changed("ADDED", pod("c", "12")))
    store.apply(changed("ADDED", pod("d", "13")))
    assert.strictEqual(get("d")?.spec.containers, get("c")?.spec.containers)
  })

  it("are not written to once they can be read", () => {
    const { get, store } = synced(pod("a", "1"))
    Store.deepFreeze(get("a"))
    store.apply(changed("ADDED", pod("b", "10", { app: "other" })))
    store.apply(changed("MODIFIED", pod("a", "11", { phase: "Failed" })))
    assert.strictEqual(get("b")?.metadata.labels?.["app"], "other")
    assert.deepStrictEqual(get("a"), pod("a", "11", { phase: "Failed" }) as Parts)
  })
})
