import { describe } from "@effect/vitest"
/** Overlay keeps unknown fields and replaces known ones. The fields `x` and `toString` are the unknown ones here. */
import * as Arbitrary from "effect/Arbitrary"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import * as Overlay from "../../../src/kube/crd/overlay.ts"
import { checkProperty } from "../../support/property.ts"

type Json = Schema.Json
type Fields = Readonly<Record<string, Json>>

const Leaf = Schema.NullOr(Schema.Union([Schema.Literals([0, 1]), Schema.Literal("s"), Schema.Boolean]))
const fieldNames = ["a", "b", "constructor"]
const unknownNames = ["x", "toString"]

/** JSON of bounded depth with known and unknown fields. */
const json = (depth: number): Schema.Codec<Json> => {
  if (depth === 0) return Leaf
  const inner = json(depth - 1)
  const fields = Object.fromEntries([...fieldNames, ...unknownNames].map((name) => [name, Schema.optionalKey(inner)]))
  const list = Schema.Array(inner).check(Schema.isMaxLength(3))
  return Schema.Union([Leaf, Schema.Struct(fields), list]) as unknown as Schema.Codec<Json>
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value as a Schema that knows only some fields would decode it. */
const known = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(known)
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (unknownNames.includes(key) ? [] : [[key, known(inner)]]))
  )
}

/** Whether `out` has every unknown field whose parents are still there. */
const keptIn = (out: unknown, original: Json): boolean => {
  if (!isFields(original) || !isFields(out)) return true
  return Object.entries(original).every(([key, value]) => {
    if (unknownNames.includes(key)) return Equal.equals(out[key], value)
    return !Object.hasOwn(out, key) || keptIn(out[key], value)
  })
}

const values = Arbitrary.schema(json(3))
const pairs = Arbitrary.all([values, values] as const)
const element = Schema.Struct({ a: Schema.Int, x: Schema.optionalKey(Leaf) })
type Elements = ReadonlyArray<Fields>
const distinct = Arbitrary.map(Arbitrary.schema(Schema.Array(element).check(Schema.isMaxLength(5))), (all): Elements =>
  (all as Elements).filter((one, at) => all.findIndex((other) => other["a"] === one["a"]) === at)
)

describe("Overlay", () => {
  checkProperty("a value that was not changed is written as it was", values, (value) =>
    Equal.equals(Overlay.overlay(value, known(value), known(value)), value)
  )

  checkProperty("known fields have the new value", pairs, ([value, other]) =>
    Equal.equals(known(Overlay.overlay(value, known(value), known(other)) as Json), known(other))
  )

  checkProperty("unknown fields stay, at any depth", pairs, ([value, other]) =>
    keptIn(Overlay.overlay(value, known(value), known(other)), value)
  )

  checkProperty("elements that move keep their unknown fields", distinct, (all) =>
    Equal.equals(Overlay.overlay(all, known(all), known(all.toReversed())), all.toReversed())
  )

  checkProperty("a changed element keeps its unknown fields", distinct, (all) => {
    const changed = all.map((one, at) => (at === 0 ? { ...one, a: 0.5 } : one))
    return Equal.equals(Overlay.overlay(all, known(all), known(changed)), changed)
  })

  checkProperty("the remaining elements of a shorter list keep their unknown fields", distinct, (all) => {
    const [, ...rest] = all
    const changed = rest.map((one, at) => (at === 0 ? { a: 0.5 } : one))
    return Equal.equals(Overlay.overlay(all, known(all), known(changed)), changed)
  })
})
