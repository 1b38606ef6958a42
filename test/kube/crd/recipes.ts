/**
 * Random Schemas, each with values that it refuses. A recipe describes a Schema independently of its definition, so that a definition which
 * lacks something is found. Everything is derived from a list of random numbers, which shrinks.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Json = Schema.Json
type AnyCodec = Schema.Codec<any, any>

/** A Schema, and the ways to make a valid value invalid. */
export interface Recipe {
  readonly schema: AnyCodec
  /** Invalid values made from a valid one, each for one reason. */
  readonly spoil: (value: Json) => ReadonlyArray<Json>
  /** The value with which a missing one may be replaced. */
  readonly sample: Json
}

export interface Tape {
  readonly next: (below: number) => number
}

const tape = (numbers: ReadonlyArray<number>): Tape => {
  let at = 0
  // After the end all numbers are zero, which is the simplest choice everywhere.
  return { next: (below) => (numbers[at++] ?? 0) % below }
}

const put = (value: Json, name: string, inner: Json): Json => ({ ...(value as object), [name]: inner })

const leaf = (schema: AnyCodec, sample: Json, spoil: Recipe["spoil"]): Recipe => ({ schema, sample, spoil })

const integer = (t: Tape): Recipe => {
  const minimum = t.next(20) - 10
  const maximum = minimum + 1 + t.next(20)
  const kinds: ReadonlyArray<() => Recipe> = [
    () => leaf(Schema.Int, 1, () => [1.5, "1", true, [1], { a: 1 }]),
    () =>
      leaf(Schema.Int.check(Schema.isBetween({ minimum, maximum })), minimum, () => [
        minimum - 1,
        maximum + 1,
        "1",
        0.5
      ]),
    () => leaf(Schema.Int.check(Schema.isGreaterThan(minimum)), minimum + 1, () => [minimum, minimum - 1, null]),
    () =>
      leaf(Schema.Int.check(Schema.isGreaterThanOrEqualTo(minimum), Schema.isLessThan(maximum)), minimum, () => [
        minimum - 1,
        maximum
      ]),
    () => leaf(Schema.Int.check(Schema.isMultipleOf(3)), 3, () => [4, -1]),
    () =>
      leaf(
        Schema.Int.check(Schema.isGreaterThan(minimum - 1), Schema.isGreaterThanOrEqualTo(minimum - 5)),
        minimum,
        () => [minimum - 1]
      ),
    () => leaf(Schema.Int.check(Schema.isInt32()), 1, () => [2_147_483_648, -2_147_483_649])
  ]
  return kinds[t.next(kinds.length)]!()
}

const number = (t: Tape): Recipe => {
  const maximum = t.next(10) + 0.5
  const kinds: ReadonlyArray<() => Recipe> = [
    () => leaf(Schema.Finite, 0.5, () => ["0.5", false, {}]),
    () => leaf(Schema.Finite.check(Schema.isLessThanOrEqualTo(maximum)), 0, () => [maximum + 0.25]),
    () =>
      leaf(
        Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum, exclusiveMinimum: true, exclusiveMaximum: true })),
        maximum / 2,
        () => [0, maximum]
      )
  ]
  return kinds[t.next(kinds.length)]!()
}

const string = (t: Tape): Recipe => {
  const least = t.next(4)
  const most = least + t.next(4)
  const kinds: ReadonlyArray<() => Recipe> = [
    () => leaf(Schema.String, "", () => [1, true, ["a"], { a: "b" }]),
    () => leaf(Schema.String.check(Schema.isMinCodePoints(least + 1)), "abcd", () => ["\u{1F600}".repeat(least), ""]),
    () =>
      leaf(Schema.String.check(Schema.isBetweenCodePoints(least, most)), "a".repeat(least), () => [
        "\u{1F600}".repeat(most + 1),
        ...(least > 0 ? ["a".repeat(least - 1)] : [])
      ]),
    () => leaf(Schema.NonEmptyString, "a", () => [""]),
    () => leaf(Schema.String.check(Schema.isPattern(/^[a-z]{1,5}$/u)), "abc", () => ["ABC", "", "abcdef", "a\nb"]),
    () =>
      leaf(Schema.String.check(Schema.isPattern(/^[a-z]+/u), Schema.isPattern(/[0-9]$/u)), "a1", () => ["a", "1", ""]),
    () => leaf(Schema.String.check(Schema.isStartingWith("v.")), "v.1", () => ["va1", "xv.1"])
  ]
  return kinds[t.next(kinds.length)]!()
}

const enumeration = (t: Tape): Recipe =>
  t.next(2) === 0
    ? leaf(Schema.Literals(["red", "green"]), "red", () => ["blue", 1, true])
    : leaf(Schema.Literals([1, 2, 5]), 5, () => [3, "1"])

const intOrString = (): Recipe => leaf(Schema.Union([Schema.Int, Schema.String]), "http", () => [1.5, true, [], {}])

const scalars = [integer, string, number, enumeration, intOrString, () => leaf(Schema.Boolean, true, () => ["true", 0])]

const scalar = (t: Tape): Recipe => scalars[t.next(scalars.length)]!(t)

const list = (t: Tape, depth: number): Recipe => {
  if (t.next(4) === 0) {
    return leaf(Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isUnique()), ["a"], () => [
      ["a", "a"],
      ["d"],
      "a"
    ])
  }
  const item = recipe(t, depth - 1)
  const most = 1 + t.next(3)
  const isNonEmpty = t.next(2) === 0
  const base: AnyCodec = isNonEmpty ? Schema.NonEmptyArray(item.schema) : Schema.Array(item.schema)
  return {
    schema: base.check(Schema.isMaxLength(most) as never) as AnyCodec,
    sample: [item.sample],
    spoil: (value) => {
      const items = value as ReadonlyArray<Json>
      const first = items[0] ?? item.sample
      return [
        {},
        "list",
        Array.from({ length: most + 1 }, () => first),
        ...(isNonEmpty ? [[]] : []),
        ...item.spoil(first).map((bad) => [bad].concat(items.slice(1)))
      ]
    }
  }
}

const record = (t: Tape, depth: number): Recipe => {
  const item = recipe(t, depth - 1)
  return {
    schema: Schema.Record(Schema.String, item.schema).check(Schema.isMaxProperties(3)) as AnyCodec,
    sample: { key: item.sample },
    spoil: (value) => {
      const four = Object.fromEntries(["1", "2", "3", "4"].map((key) => [key, item.sample]))
      return [[], 5, four, ...item.spoil(item.sample).map((bad) => put(value, "key", bad))]
    }
  }
}

const names = ["alpha", "beta-x", "items", "default"] as const

/** The server ignores a default of null, so such a field is optional. */
const optionalNull = <A extends { readonly of: Recipe; readonly presence: number }>(field: A): A =>
  field.presence === 2 && field.of.sample === null ? { ...field, presence: 1 } : field

const struct = (t: Tape, depth: number): Recipe => {
  const count = 1 + t.next(names.length)
  const fields = names
    .slice(0, count)
    .map((name) => ({ name, of: recipe(t, depth - 1), presence: t.next(3) }))
    .map(optionalNull)
  const schemaOf = ({ of, presence }: (typeof fields)[number]): AnyCodec => {
    if (presence === 1) return Schema.optionalKey(of.schema)
    if (presence === 2) return of.schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(of.sample))) as AnyCodec
    return of.schema
  }
  return {
    schema: Schema.Struct(Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)]))) as AnyCodec,
    sample: Object.fromEntries(fields.map(({ name, of }) => [name, of.sample])),
    spoil: (value) => {
      const good = value as { readonly [name: string]: Json }
      const without = (name: string): Json => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))
      return [
        [],
        "object",
        ...fields.filter(({ presence }) => presence === 0).map(({ name }) => without(name)),
        ...fields.flatMap(({ name, of }) =>
          of.spoil(Object.hasOwn(good, name) ? good[name]! : of.sample).map((bad) => put(good, name, bad))
        )
      ]
    }
  }
}

const nullable = (t: Tape, depth: number): Recipe => {
  const of = recipe(t, depth - 1)
  return {
    schema: Schema.NullOr(of.schema),
    sample: null,
    spoil: () => of.spoil(of.sample).filter((bad) => bad !== null)
  }
}

const tagged = (t: Tape, depth: number): Recipe => {
  const a = recipe(t, depth - 1)
  const b = recipe(t, depth - 1)
  const left = { type: "Left", a: a.sample }
  const right = { type: "Right", b: b.sample }
  return {
    schema: Schema.Union([
      Schema.Struct({ type: Schema.Literal("Left"), a: a.schema, note: Schema.optionalKey(Schema.String) }),
      Schema.Struct({ type: Schema.Literal("Right"), b: b.schema, note: Schema.optionalKey(Schema.String) })
    ]) as AnyCodec,
    sample: left,
    spoil: () => [
      { type: "Left" },
      { type: "Right", a: a.sample },
      { type: "Middle", a: a.sample, b: b.sample },
      { a: a.sample, b: b.sample },
      { ...left, note: 5 },
      ...a.spoil(a.sample).map((bad) => put(left, "a", bad)),
      ...b.spoil(b.sample).map((bad) => put(right, "b", bad))
    ]
  }
}

const anything = (): Recipe => leaf(Schema.Json as AnyCodec, { any: ["thing"] }, () => [])

const composites = [struct, list, record, nullable, tagged, anything]

const recipe = (t: Tape, depth: number): Recipe =>
  depth <= 0 || t.next(3) === 0 ? scalar(t) : composites[t.next(composites.length)]!(t, depth)

const Tapes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9999 })))

/** Recipes of structs, such as a spec. */
export const recipes: Arbitrary.Arbitrary<Recipe> = Arbitrary.map(
  Arbitrary.schema(Tapes.check(Schema.isBetweenLength(20, 60))),
  (numbers) => struct(tape(numbers), 3)
)
