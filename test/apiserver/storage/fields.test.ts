/**
 * The difference between two states of an object. Elements with keys have no order: lists in the same order are compared pairwise,
 * others by a map, with the same result.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../../src/apiserver/json.ts"
import type { Shape } from "../../../src/apiserver/scheme/Shape.ts"
import * as fields from "../../../src/apiserver/storage/fields.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"

const shape = resources.shapeOfStorage("pods")

/** Conditions of a pod, of these types in this order; each has a status and perhaps a reason. */
const pod = (types: ReadonlyArray<string>, values: ReadonlyArray<number>): JsonObject => ({
  status: {
    conditions: types.map((type, index) => {
      const value = values[index] ?? 0
      return {
        type,
        status: value % 2 === 0 ? "True" : "False",
        ...(value % 3 === 0 ? {} : { reason: `r${value % 3}` })
      }
    })
  }
})

const Types = Schema.UniqueArray(Schema.Literals(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]))
const Values = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })))

const reversed = (list: ReadonlyArray<string>): ReadonlyArray<string> => list.toReversed()

/** The same value for each type, at any position. */
const valuesOf = (types: ReadonlyArray<string>, order: ReadonlyArray<string>, values: ReadonlyArray<number>) =>
  order.map((type) => values[types.indexOf(type)] ?? 0)

const knowsNoOrder = (
  types: ReadonlyArray<string>,
  old: ReadonlyArray<number>,
  now: ReadonlyArray<number>
): boolean => {
  const before = pod(types, old)
  const order = reversed(types)
  const aligned = fields.between(before, pod(types, now), shape)
  const turned = fields.between(before, pod(order, valuesOf(types, order, now)), shape)
  return sorted(aligned) === sorted(turned)
}

const sorted = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, one: unknown) =>
    typeof one === "object" && one !== null
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one
  )

describe("the difference between two states", () => {
  it.prop(
    "ignores the order of elements with keys",
    { types: Types, old: Values, now: Values },
    ({ now, old, types }) => knowsNoOrder(types, old, now)
  )

  it.each([
    { title: "a status", old: [0, 1, 2], now: [1, 1, 2] },
    { title: "a status and a reason", old: [0, 0, 0], now: [0, 1, 3] }
  ])("ignores the order of three elements with keys of which $title differs", ({ now, old }) => {
    assert.isTrue(knowsNoOrder(["a", "b", "c"], old, now))
  })

  it("names the element that differs, by its key", () => {
    const found = fields.between(pod(["a", "b"], [0, 0]), pod(["a", "b"], [0, 1]), shape)
    assert.deepStrictEqual(found?.changed, {
      "f:status": { "f:conditions": { 'k:{"type":"b"}': { "f:reason": {}, "f:status": {} } } }
    })
    assert.deepStrictEqual(found?.removed, {})
  })

  it("uses the last of elements with the same key, as kube-apiserver does", () => {
    const found = fields.between(pod(["a", "a"], [0, 1]), pod(["a", "a"], [3, 1]), shape)
    assert.strictEqual(found, undefined)
  })
})

/** Members with each way to merge, in a Go struct and behind a pointer. */
const members: Readonly<Record<string, Shape>> = {
  atomicStruct: { always: true, atomic: true },
  atomicPointer: { atomic: true },
  struct: { always: true },
  pointer: {},
  atomicList: { always: true },
  set: { set: true },
  byName: { keys: ["name"] }
}

const anyShape: Shape = { fields: { spec: { always: true, fields: members }, optional: { fields: members } } }

const Value = Schema.Literals(["absent", "null", '""', '"a"', "0", "false", "{}", '{"a":""}', '{"a":"b"}', "[]"])
const Element = Schema.Literals(["absent", '["a"]', '["a","b"]', '[{"name":"a"}]', '[{"name":"b","a":{}}]'])
const Part = Schema.Record(Schema.Literals(Object.keys(members)), Schema.Union([Value, Element]))

const objectOf = (spec: typeof Part.Type, optional: typeof Part.Type): JsonObject => ({
  spec: partOf(spec),
  optional: partOf(optional)
})

const partOf = (part: typeof Part.Type): JsonObject =>
  Object.fromEntries(
    Object.entries(part).flatMap(([name, text]) => (text === "absent" ? [] : [[name, JSON.parse(text) as Json]]))
  )

describe("sameForm", () => {
  it.prop(
    "is true only for new objects with equal field sets",
    { spec: Part, other: Part, optional: Part },
    ({ optional, other, spec }) => {
      const a = objectOf(spec, optional)
      // One member differs at a time: objects that differ in many are rarely of the same form.
      for (const [name, value] of Object.entries(other)) {
        for (const b of [
          objectOf({ ...spec, [name]: value }, optional),
          objectOf(spec, { ...optional, [name]: value })
        ]) {
          if (!fields.sameForm(a, b, anyShape)) continue
          assert.deepStrictEqual(fields.all(a, anyShape), fields.all(b, anyShape), JSON.stringify([a, b]))
        }
      }
    }
  )

  it("is false for an empty atomic struct and one with members", () => {
    const [empty, full] = [{ spec: { atomicStruct: {} } }, { spec: { atomicStruct: { a: "b" } } }]
    assert.isFalse(fields.sameForm(empty, full, anyShape))
    assert.isFalse(fields.sameForm(full, empty, anyShape))
  })
})
