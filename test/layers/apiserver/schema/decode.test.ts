/**
 * Decoding by the type table, as laws over objects generated from the table itself: what fits passes untouched, and a field
 * that does not belong is told with its path and taken out, wherever it is.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { clone, equal, isObject } from "../../../../src/layers/apiserver/json.ts"
import type { Json, JsonObject } from "../../../../src/layers/apiserver/json.ts"
import * as decoding from "../../../../src/layers/apiserver/schema/decode.ts"
import * as types from "../../../../src/layers/apiserver/schema/types.ts"
import { load } from "../../../support/mutant.ts"

type Module = typeof decoding

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

/** A value of a form, chosen by numbers: so a failing case shrinks as its numbers do. */
const grow = (type: types.Type, choices: ReadonlyArray<number>): JsonObject => {
  let at = 0
  const next = (bound: number): number => (choices[at++] ?? 0) % bound
  const value = (form: types.Form, depth: number): Json => {
    switch (form._tag) {
      case "Scalar":
        return clone(samples[form.scalar][next(samples[form.scalar].length)] ?? null)
      case "Ref":
        return struct(types.get(form.type), depth - 1)
      case "List":
        return Array.from({ length: next(3) }, () => value(form.element, depth))
      case "Map":
        return Object.fromEntries(
          Array.from({ length: next(3) }, (_, index) => [`k${index}`, value(form.element, depth)])
        )
    }
  }
  const struct = (of: types.Type, depth: number): JsonObject => {
    const out: JsonObject = {}
    const fields = [...of.fields]
    for (let count = depth <= 0 ? 0 : next(5); count > 0; count--) {
      const [name, field] = fields[next(fields.length)]!
      out[name] = value(field.form, depth)
    }
    return out
  }
  return struct(type, 7)
}

/** Every struct in a grown object, with its path: where a stranger could be. */
const structs = (object: JsonObject, type: types.Type): ReadonlyArray<readonly [string, JsonObject]> => {
  const found: Array<readonly [string, JsonObject]> = []
  const value = (json: Json, form: types.Form, path: string): void => {
    if (form._tag === "Ref" && isObject(json)) struct(json, types.get(form.type), path)
    if (form._tag === "List" && Array.isArray(json))
      json.forEach((one, index) => value(one, form.element, `${path}[${index}]`))
    if (form._tag === "Map" && isObject(json))
      for (const key of Object.keys(json)) value(json[key]!, form.element, `${path}.${key}`)
  }
  const struct = (json: JsonObject, of: types.Type, path: string): void => {
    found.push([path, json])
    for (const key of Object.keys(json))
      value(json[key]!, of.fields.get(key)!.form, path === "" ? key : `${path}.${key}`)
  }
  struct(object, type, "")
  return found
}

const Choices = Arbitrary.schema(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))).check(Schema.isMaxLength(80))
)

const fits = ({ decode }: Module, choices: ReadonlyArray<number>): boolean => {
  const type = types.get(kinds[(choices[0] ?? 0) % kinds.length]!)
  const object = grow(type, choices)
  const before = clone(object)
  return decode(object, type) === undefined && equal(object, before)
}

const tells = ({ decode }: Module, choices: ReadonlyArray<number>): boolean => {
  const type = types.get(kinds[(choices[0] ?? 0) % kinds.length]!)
  const object = grow(type, choices)
  const before = clone(object)
  const places = structs(object, type)
  const [path, place] = places[(choices.at(-1) ?? 0) % places.length]!
  place["stranger"] = { whatever: [1] }
  const found = decode(object, type)
  const expected = path === "" ? "stranger" : `${path}.stranger`
  return found?.mismatch === undefined && equal([...(found?.unknown ?? [])], [expected]) && equal(object, before)
}

/** For mutants: whether a law holds for many numbers that need no generator. */
const holds = (law: (module: Module, choices: ReadonlyArray<number>) => boolean, module: Module): boolean =>
  Array.from({ length: 300 }, (_, seed) =>
    Array.from({ length: 60 }, (_, at) => (seed * 7919 + at * at * 104729) % 997)
  ).every((choices) => law(module, choices))

describe("decoding", () => {
  it.prop("leaves alone what is of the type", { choices: Choices }, ({ choices }) => fits(decoding, choices))
  it.prop("tells the path of a stranger and takes it out", { choices: Choices }, ({ choices }) =>
    tells(decoding, choices)
  )

  it("tells the first wrong value, and strangers beside it; hostile names are names", () => {
    const object = JSON.parse(
      '{"__proto__":1,"constructor":2,"spec":{"replicas":"x","paused":"y","hasOwnProperty":3}}'
    ) as JsonObject
    const found = decoding.decode(object, types.get("apps.Deployment"))
    assert.deepStrictEqual(found?.unknown, ["__proto__", "constructor", "spec.hasOwnProperty"])
    assert.deepStrictEqual([found?.mismatch?.path, found?.mismatch?.value], [["spec", "replicas"], "x"])
    assert.deepStrictEqual(Object.keys(object), ["spec"])
  })

  it("reads a null element as the zero of its type", () => {
    const object: JsonObject = { spec: { containers: [null, { name: "c", args: [null, "a"] }] } }
    assert.deepStrictEqual(decoding.decode(object, types.get("core.Pod")), { unknown: [], mismatch: undefined })
    assert.deepStrictEqual(object, { spec: { containers: [{}, { name: "c", args: ["", "a"] }] } })
  })

  it("stops telling after a hundred", () => {
    const object: JsonObject = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, 1]))
    assert.deepStrictEqual(decoding.decode(object, types.get("core.Pod"))?.unknown.length, 100)
    assert.deepStrictEqual(object, {})
  })

  for (const [law, mutation] of [
    [tells, { title: "keeps strangers", find: "delete object[key]", replace: "" }],
    [tells, { title: "loses its way", find: "    this.path.push(index)\n", replace: "" }],
    [
      tells,
      { title: "trusts what is not known", find: "if (one === undefined || ", replace: "if (one !== undefined && " }
    ],
    [
      fits,
      {
        title: "does not know maps",
        find: "isObject(value) && Object.keys(value).every",
        replace: "isObject(value) && !Object.keys(value).every"
      }
    ]
  ] as const) {
    it(`mutant: ${mutation.title}`, async () => {
      assert.deepStrictEqual(holds(law, decoding), true)
      assert.deepStrictEqual(holds(law, await load<Module>("layers/apiserver/schema/decode.ts", mutation)), false)
    })
  }
})
