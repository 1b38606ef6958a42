/**
 * Properties of decoding, on objects generated from the type table: the result is what a Go struct would hold, and an unknown field at any
 * depth is removed and reported with its path.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { clone, equal, isObject } from "../../../src/apiserver/json.ts"
import type { Json, JsonObject } from "../../../src/apiserver/json.ts"
import * as decoding from "../../../src/apiserver/scheme/decode.ts"
import * as types from "../../../src/apiserver/scheme/types.ts"

const kinds = [
  "core.Pod",
  "apps.Deployment",
  "core.Service",
  "batch.CronJob",
  "core.Node",
  "core.Secret",
  "coordination.Lease"
]

const samples: Readonly<Record<types.Scalar, ReadonlyArray<Json>>> = {
  s: ["", "text"],
  y: ["", "YWJj"],
  i: [0, -1, 2147483647],
  l: [0, 9007199254740991],
  d: [0, 1.5],
  b: [true, false],
  t: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00"],
  u: ["2026-01-01T00:00:00.000000Z"],
  x: [80, "http", "25%"],
  q: ["1", "100m", "1.5Gi", "1e3", "-1"],
  j: [{}, { any: [{ thing: null }] }]
}

/** A value of a type, chosen by numbers, so that a failing case shrinks with its numbers. */
const grow = (type: types.Type, choices: ReadonlyArray<number>): JsonObject => {
  let at = 0
  const next = (bound: number): number => (choices[at++] ?? 0) % bound
  const value = (fieldType: types.FieldType, depth: number): Json => {
    switch (fieldType._tag) {
      case "Scalar":
        return clone(samples[fieldType.scalar][next(samples[fieldType.scalar].length)] ?? null)
      case "Ref":
        return struct(types.get(fieldType.type), depth - 1)
      case "List":
        return Array.from({ length: next(3) }, () => value(fieldType.element, depth))
      case "Map":
        return Object.fromEntries(
          Array.from({ length: next(3) }, (_, index) => [`k${index}`, value(fieldType.element, depth)])
        )
    }
  }
  const struct = (of: types.Type, depth: number): JsonObject => {
    const out: JsonObject = {}
    const fields = [...of.fields]
    for (let count = depth <= 0 ? 0 : next(5); count > 0; count--) {
      const [name, field] = fields[next(fields.length)]!
      out[name] = value(field.fieldType, depth)
    }
    return out
  }
  return struct(type, 7)
}

interface Place {
  readonly object: JsonObject
  readonly fields: types.Type["fields"]
}

/** Every struct in a generated object, with its path: the places for an unknown field. */
const structs = (object: JsonObject, type: types.Type): ReadonlyArray<readonly [string, Place]> => {
  const found: Array<readonly [string, Place]> = []
  const value = (json: Json, fieldType: types.FieldType, path: string): void => {
    if (fieldType._tag === "Ref" && isObject(json)) struct(json, types.get(fieldType.type), path)
    if (fieldType._tag === "List" && Array.isArray(json))
      json.forEach((one, index) => value(one, fieldType.element, `${path}[${index}]`))
    if (fieldType._tag === "Map" && isObject(json))
      for (const key of Object.keys(json)) value(json[key]!, fieldType.element, `${path}.${key}`)
  }
  const struct = (json: JsonObject, of: types.Type, path: string): void => {
    found.push([path, { object: json, fields: of.fields }])
    for (const key of Object.keys(json))
      value(json[key]!, of.fields.get(key)!.fieldType, path === "" ? key : `${path}.${key}`)
  }
  struct(object, type, "")
  return found
}

const Choices = Arbitrary.schema(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))).check(Schema.isMaxLength(80))
)

/** What a Go struct of the type holds of an object, computed in a simple way: a new value for every member. */
const held = (object: JsonObject, type: types.Type): JsonObject => {
  const value = (json: Json, fieldType: types.FieldType): Json => {
    if (fieldType._tag === "Ref" && isObject(json)) return held(json, types.get(fieldType.type))
    if (fieldType._tag === "List" && Array.isArray(json)) return json.map((one) => value(one, fieldType.element))
    if (fieldType._tag === "Map" && isObject(json))
      return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, value(one, fieldType.element)]))
    return json
  }
  const nothing = ({ fieldType, pointer }: types.Field): Json => {
    if (fieldType._tag === "Ref" && !pointer) return held({}, types.get(fieldType.type))
    if (fieldType._tag !== "Scalar" || pointer) return null
    return { s: "", y: null, i: 0, l: 0, d: 0, b: false, t: null, u: null, x: 0, q: "0", j: null }[fieldType.scalar]
  }
  const isZero = (json: Json): boolean => json === "" || json === 0 || json === false
  const member = (field: types.Field, sent: Json | undefined): Json | undefined => {
    const { always, fieldType, pointer } = field
    const many = fieldType._tag === "List" || fieldType._tag === "Map"
    const none =
      sent === undefined ||
      (!pointer && many && Object.keys(sent as object).length === 0) ||
      (!pointer && !always && fieldType._tag === "Scalar" && isZero(sent))
    if (!none) return value(sent, fieldType)
    return always ? nothing(field) : undefined
  }
  const members = [...type.fields].map(([name, field]) => [name, member(field, object[name])] as const)
  return Object.fromEntries(members.filter((one): one is [string, Json] => one[1] !== undefined))
}

const kindOf = (choices: ReadonlyArray<number>): types.Type => types.get(kinds[(choices[0] ?? 0) % kinds.length]!)

/** The object as a client sends it back after it has read it. */
const withoutNulls = (object: JsonObject, type: types.Type): JsonObject => {
  const copy = clone(object)
  for (const [, place] of structs(copy, type))
    for (const name of place.fields.keys()) if (place.object[name] === null) delete place.object[name]
  return copy
}

const holdsAsStruct = (choices: ReadonlyArray<number>): boolean => {
  const type = kindOf(choices)
  const object = grow(type, choices)
  const expected = held(object, type)
  const found = decoding.decode(object, type)
  const again = withoutNulls(object, type)
  const same = clone(object)
  return (
    (found === undefined || (found.unknown.length === 0 && found.mismatch === undefined)) &&
    equal(object, expected) &&
    // A decoded object decodes to itself, without unknown fields.
    decoding.decode(again, type) === undefined &&
    equal(again, object) &&
    // With the nulls of fields without omitempty, it passes the first check, and the order of members does not change.
    decoding.decode(same, type) === undefined &&
    JSON.stringify(same) === JSON.stringify(object)
  )
}

const leavesSparse = (choices: ReadonlyArray<number>): boolean => {
  const type = kindOf(choices)
  const object = grow(type, choices)
  for (const [, place] of structs(object, type)) {
    const name = [...place.fields.keys()][(choices[1] ?? 0) % place.fields.size] ?? ""
    if ((choices[2] ?? 0) % 3 === 0) place.object[name] = null
  }
  const before = clone(object)
  const { mismatch, unknown } = decoding.decodeSparse(object, type)
  return mismatch === undefined && unknown.length === 0 && equal(object, before)
}

const tells = (choices: ReadonlyArray<number>): boolean => {
  const type = kindOf(choices)
  const object = grow(type, choices)
  const expected = held(object, type)
  const places = structs(object, type)
  const [path, place] = places[(choices.at(-1) ?? 0) % places.length]!
  place.object["stranger"] = { whatever: [1] }
  const found = decoding.decode(object, type)
  const told = path === "" ? "stranger" : `${path}.stranger`
  return found?.mismatch === undefined && equal([...(found?.unknown ?? [])], [told]) && equal(object, expected)
}

/** The same choices in every run, for objects of every kind. */
const fixed: ReadonlyArray<ReadonlyArray<number>> = Array.from({ length: 300 }, (_, seed) =>
  Array.from({ length: 60 }, (_, at) => (seed * 7919 + at * at * 104729) % 997)
)

describe("decode", () => {
  it.prop("returns what a Go struct of the type encodes to", { choices: Choices }, ({ choices }) =>
    holdsAsStruct(choices)
  )
  it.prop("decodeSparse keeps an applied configuration unchanged", { choices: Choices }, ({ choices }) =>
    leavesSparse(choices)
  )
  it.prop("reports the path of an unknown field and removes it", { choices: Choices }, ({ choices }) => tells(choices))

  it.each([
    { title: "leaves what a struct of the type holds", holds: holdsAsStruct },
    { title: "of what is applied leaves everything as it was sent", holds: leavesSparse },
    { title: "tells the path of a stranger and takes it out", holds: tells }
  ])("$title, for 300 objects that are the same in every run", ({ holds }) => {
    for (const [index, choices] of fixed.entries()) assert.isTrue(holds(choices), `choices ${index}`)
  })

  it("reports the first value of a wrong type and all unknown fields; __proto__ is an ordinary name", () => {
    const object = JSON.parse(
      '{"__proto__":1,"constructor":2,"spec":{"replicas":"x","paused":"y","hasOwnProperty":3}}'
    ) as JsonObject
    const found = decoding.decode(object, types.get("apps.Deployment"))
    assert.deepStrictEqual(found?.unknown, ["__proto__", "constructor", "spec.hasOwnProperty"])
    assert.deepStrictEqual([found?.mismatch?.path, found?.mismatch?.value], [["spec", "replicas"], "x"])
    assert.deepStrictEqual(Object.keys(object), ["spec", "metadata", "status"])
  })

  it("decodes a null list element as the zero value of its type", () => {
    const object: JsonObject = { args: [null, "a"], env: [null, { name: "e" }], name: "c" }
    assert.deepStrictEqual(decoding.decode(object, types.get("core.Container")), { unknown: [], mismatch: undefined })
    assert.deepStrictEqual(object, { args: ["", "a"], env: [{ name: "" }, { name: "e" }], name: "c", resources: {} })
  })

  it("decodes a null map value as the zero value of its type, and drops a null field", () => {
    const object: JsonObject = { limits: { a: null }, requests: null }
    assert.deepStrictEqual(decoding.decode(object, types.get("core.ResourceRequirements")), {
      unknown: [],
      mismatch: undefined
    })
    assert.deepStrictEqual(object, { limits: { a: "0" } })
    const sparse: JsonObject = { limits: { a: null }, requests: null }
    decoding.decodeSparse(sparse, types.get("core.ResourceRequirements"))
    assert.deepStrictEqual(sparse, { limits: { a: null }, requests: null })
  })

  it("reports at most a hundred unknown fields", () => {
    const object: JsonObject = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, 1]))
    assert.deepStrictEqual(decoding.decode(object, types.get("core.EnvFromSource"))?.unknown.length, 100)
    assert.deepStrictEqual(object, {})
  })
})
