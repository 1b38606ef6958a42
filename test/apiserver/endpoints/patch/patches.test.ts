/** JSON patch, merge patch and strategic merge patch as functions: the examples of their RFCs, properties, and errors. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { clone, equal } from "../../../../src/apiserver/json.ts"
import type { Json, JsonObject } from "../../../../src/apiserver/json.ts"
import * as jsonPatch from "../../../../src/apiserver/endpoints/patch/jsonPatch.ts"
import * as mergePatch from "../../../../src/apiserver/endpoints/patch/mergePatch.ts"
import * as strategicPatch from "../../../../src/apiserver/endpoints/patch/strategicPatch.ts"
import { StatusError } from "../../../../src/apiserver/StatusError.ts"
import * as resources from "../../../../src/apiserver/scheme/resources.ts"

/** Small JSON values with few keys, so that patches match their targets. */
const Key = Schema.Literals(["a", "b", "c", "__proto__", "x/y", "m~n"])
const Leaf = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  Schema.Literals(["s", ""])
])
const Level1 = Schema.Union([Leaf, Schema.Array(Leaf).check(Schema.isMaxLength(3)), Schema.Record(Key, Leaf)])
const Level2 = Schema.Union([Level1, Schema.Record(Key, Level1)])
const Tree = Arbitrary.schema(Schema.Record(Key, Level2))

/** Generated values as the JSON they would be on the wire, with hostile keys as own properties. */
const wire = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject

const frozen = <A extends Json>(value: A): A => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach((one) => frozen(one))
    Object.freeze(value)
  }
  return value
}

/** The result of a patch that is not refused. */
const accepted = <A>(result: A | StatusError): A => {
  if (result instanceof StatusError) throw new Error(`refused: ${result.message}`)
  return result
}

describe("merge patch", () => {
  /** Source: RFC 7386, appendix A. */
  const examples: ReadonlyArray<readonly [Json, Json, Json]> = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"]
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }]
  ]
  it("follows the examples of RFC 7386", () => {
    for (const [target, patch, result] of examples)
      assert.deepStrictEqual(mergePatch.apply(frozen(target), frozen(patch)), result)
  })

  const idempotent = (target: JsonObject, patch: JsonObject): boolean => {
    const once = mergePatch.apply(frozen(target), frozen(patch))
    return equal(mergePatch.apply(once, patch), once) && ({} as any).a === undefined
  }
  it.prop("is idempotent and changes neither argument", { target: Tree, patch: Tree }, ({ patch, target }) =>
    idempotent(wire(target), wire(patch))
  )
  it.prop("turns one object into any other without nulls", { target: Tree, wanted: Tree }, ({ target, wanted }) => {
    const before = mergePatch.apply({}, wire(target)) as JsonObject
    const after = mergePatch.apply({}, wire(wanted)) as JsonObject
    const difference = diff(before, after)
    return equal(mergePatch.apply(before, difference), after)
  })
})

const diff = (before: JsonObject, after: JsonObject): JsonObject => {
  const out: JsonObject = {}
  const put = (key: string, value: Json) =>
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) put(key, null)
  for (const key of Object.keys(after)) {
    const [old, next] = [Object.hasOwn(before, key) ? before[key] : undefined, after[key] as Json]
    const nested = [old, next].every((one) => typeof one === "object" && one !== null && !Array.isArray(one))
    if (!equal(old, next)) put(key, nested ? diff(old as JsonObject, next as JsonObject) : next)
  }
  return out
}

describe("JSON patch", () => {
  const apply = (document: Json, ...operations: ReadonlyArray<JsonObject>) =>
    jsonPatch.apply(frozen(document), operations as Array<Json>)
  const fails = (document: Json, ...operations: ReadonlyArray<JsonObject>) =>
    assert.instanceOf(apply(document, ...operations), StatusError)

  it("follows the examples of RFC 6902, appendix A", () => {
    assert.deepStrictEqual(apply({ foo: "bar" }, { op: "add", path: "/baz", value: "qux" }), { foo: "bar", baz: "qux" })
    assert.deepStrictEqual(apply({ foo: ["bar", "baz"] }, { op: "add", path: "/foo/1", value: "qux" }), {
      foo: ["bar", "qux", "baz"]
    })
    assert.deepStrictEqual(apply({ baz: "qux", foo: "bar" }, { op: "remove", path: "/baz" }), { foo: "bar" })
    assert.deepStrictEqual(apply({ foo: ["bar", "qux", "baz"] }, { op: "remove", path: "/foo/1" }), {
      foo: ["bar", "baz"]
    })
    assert.deepStrictEqual(apply({ baz: "qux", foo: "bar" }, { op: "replace", path: "/baz", value: "boo" }), {
      baz: "boo",
      foo: "bar"
    })
    assert.deepStrictEqual(
      apply(
        { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
        { op: "move", from: "/foo/waldo", path: "/qux/thud" }
      ),
      { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } }
    )
    assert.deepStrictEqual(
      apply({ foo: ["all", "grass", "cows", "eat"] }, { op: "move", from: "/foo/1", path: "/foo/3" }),
      {
        foo: ["all", "cows", "eat", "grass"]
      }
    )
    assert.deepStrictEqual(
      apply(
        { baz: "qux", foo: ["a", 2, "c"] },
        { op: "test", path: "/baz", value: "qux" },
        { op: "test", path: "/foo/1", value: 2 }
      ),
      { baz: "qux", foo: ["a", 2, "c"] }
    )
    fails({ baz: "qux" }, { op: "test", path: "/baz", value: "bar" })
    assert.deepStrictEqual(apply({ foo: "bar" }, { op: "add", path: "/child", value: { grandchild: {} } }), {
      foo: "bar",
      child: { grandchild: {} }
    })
    assert.deepStrictEqual(apply({ foo: "bar" }, { op: "add", path: "/baz", value: "qux", xyz: 123 }), {
      foo: "bar",
      baz: "qux"
    })
    fails({ foo: "bar" }, { op: "add", path: "/baz/bat", value: "qux" })
    assert.deepStrictEqual(apply({ "/": 9, "~1": 10 }, { op: "test", path: "/~01", value: 10 }), { "/": 9, "~1": 10 })
    fails({ "/": 9, "~1": 10 }, { op: "test", path: "/~01", value: "10" })
    assert.deepStrictEqual(apply({ foo: ["bar"] }, { op: "add", path: "/foo/-", value: ["abc", "def"] }), {
      foo: ["bar", ["abc", "def"]]
    })
  })

  it("rejects malformed patches and pointers to missing values", () => {
    const document = { list: [1], map: {} }
    fails(document, { op: "remove", path: "/nope" })
    fails(document, { op: "replace", path: "/list/1", value: 1 })
    fails(document, { op: "add", path: "/list/2", value: 1 })
    fails(document, { op: "add", path: "/list/01", value: 1 })
    fails(document, { op: "add", path: "list", value: 1 })
    fails(document, { op: "add", path: "/x" })
    fails(document, { op: "odd", path: "/x", value: 1 })
    fails({ a: { b: 1 } }, { op: "move", from: "/a", path: "/a/b" })
    fails({}, { op: "copy", from: "/constructor", path: "/x" })
    assert.instanceOf(jsonPatch.apply({}, {}), StatusError)
  })

  it("limits the total size of copies", () => {
    const doubling = (times: number) =>
      Array.from({ length: times }, (_, index) => ({ op: "copy", from: "", path: `/x${index}` }))
    assert.notInstanceOf(jsonPatch.apply({ a: "b" }, doubling(15)), StatusError)
    const refused = jsonPatch.apply({ a: "b" }, doubling(100))
    assert.match(
      refused instanceof StatusError ? refused.message : "",
      /accumulated size increase of copy is \d+, exceeding the limit 3145728/
    )
  })

  const Path = Schema.Literals(["", "/a", "/b", "/a/b", "/a/0", "/a/-", "/c/9", "/x~1y", "a", "/__proto__"])
  const Operation = Schema.Struct({
    op: Schema.Literals(["add", "remove", "replace", "move", "copy", "test", "odd"]),
    path: Schema.optionalKey(Path),
    from: Schema.optionalKey(Path),
    value: Schema.optionalKey(Level1)
  })
  const Operations = Arbitrary.schema(Schema.Array(Operation).check(Schema.isMaxLength(4)))

  it.prop(
    "any operations are applied or refused, as a whole like one after the other, and change nothing in place",
    { tree: Tree, operations: Operations },
    ({ operations, tree }) => {
      const document = frozen(wire(tree))
      const patch = JSON.parse(JSON.stringify(operations)) as ReadonlyArray<JsonObject>
      const whole = apply(document, ...patch)
      let current: Json | StatusError = document
      for (const one of patch) if (!(current instanceof StatusError)) current = apply(current, one)
      return whole instanceof StatusError || current instanceof StatusError
        ? whole instanceof StatusError && current instanceof StatusError && whole.message === current.message
        : equal(whole, current)
    }
  )

  it.prop(
    "add then remove changes nothing; test finds a replaced value; arguments do not change",
    { tree: Tree, key: Arbitrary.schema(Key), value: Tree },
    ({ key, tree, value }) => {
      const document = frozen(wire(tree))
      const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
      const added = accepted(
        jsonPatch.apply(document, [
          { op: "add", path, value: wire(value) },
          { op: "test", path, value: wire(value) }
        ])
      )
      const removed = accepted(jsonPatch.apply(frozen(added), [{ op: "remove", path }]))
      const without = clone(document)
      delete without[key]
      return equal(removed, without)
    }
  )
})

describe("strategic merge patch", () => {
  const shape = resources.shapeOfStorage("pods")
  const apply = (target: JsonObject, patch: JsonObject) => strategicPatch.apply(frozen(target), frozen(patch), shape)
  const containers = (...list: ReadonlyArray<JsonObject>): JsonObject => ({ spec: { containers: [...list] } })

  it("merges lists by key, in the order of the patch where it has one", () => {
    assert.deepStrictEqual(
      apply(
        containers({ name: "a", image: "1", env: [{ name: "X", value: "1" }] }, { name: "b", image: "1" }),
        containers(
          { name: "c", image: "3" },
          {
            name: "a",
            env: [
              { name: "Y", value: "2" },
              { name: "X", value: null }
            ]
          }
        )
      ),
      containers(
        { name: "c", image: "3" },
        { name: "a", image: "1", env: [{ name: "Y", value: "2" }, { name: "X" }] },
        { name: "b", image: "1" }
      )
    )
  })

  it("directives delete, replace and order", () => {
    const three = containers({ name: "a" }, { name: "b" }, { name: "c" })
    assert.deepStrictEqual(
      apply(three, containers({ name: "b", $patch: "delete" })),
      containers({ name: "a" }, { name: "c" })
    )
    assert.deepStrictEqual(apply(three, containers({ $patch: "replace" }, { name: "z" })), containers({ name: "z" }))
    assert.deepStrictEqual(apply(three, { spec: { $patch: "replace", nodeName: "n" } }), { spec: { nodeName: "n" } })
    assert.deepStrictEqual(apply(three, { spec: { $patch: "delete" } }), {})
    assert.deepStrictEqual(
      apply(three, {
        spec: {
          "$setElementOrder/containers": [{ name: "c" }, { name: "d" }, { name: "a" }],
          containers: [{ name: "d" }]
        }
      }),
      containers({ name: "b" }, { name: "c" }, { name: "d" }, { name: "a" })
    )
    assert.instanceOf(apply(three, containers({ image: "no-name" })), StatusError)
    assert.instanceOf(apply(three, { $patch: "odd" }), StatusError)
  })

  it("merges lists of primitives with patch strategy merge, and replaces others", () => {
    const before = { metadata: { finalizers: ["a", "b"] }, spec: { args: ["x"] } }
    assert.deepStrictEqual(apply(before, { metadata: { finalizers: ["b", "c"] }, spec: { args: ["y"] } }), {
      metadata: { finalizers: ["a", "b", "c"] },
      spec: { args: ["y"] }
    })
    assert.deepStrictEqual(apply(before, { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } }), {
      metadata: { finalizers: ["b"] },
      spec: { args: ["x"] }
    })
  })

  it("retainKeys clears the other members of a union", () => {
    const volume = { spec: { volumes: [{ name: "v", emptyDir: {} }] } }
    assert.deepStrictEqual(
      apply(volume, {
        spec: { volumes: [{ $retainKeys: ["name", "configMap"], name: "v", configMap: { name: "c" } }] }
      }),
      {
        spec: { volumes: [{ name: "v", configMap: { name: "c" } }] }
      }
    )
  })

  it.prop(
    "equals a merge patch without lists and directives, except for nulls in added values",
    { target: Tree, patch: Tree },
    ({ patch, target }) => {
      const [before, change] = [wire(target), wire(patch)]
      const result = accepted(strategicPatch.apply(frozen(before), frozen(change), undefined))
      return (
        equal(result, mergePatch.apply(before, change)) &&
        equal(accepted(strategicPatch.apply(result, change, undefined)), result)
      )
    }
  )
})
