/** Sets of indexes, compared with arrays of numbers. Source: pkg/controller/job: orderedIntervals. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Indexes from "../../../../src/controllers/job/plan/indexes.ts"
import { checkProperty } from "../../../support/property.ts"
const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 24 }))
const numbers = Schema.Array(small)
const two = Arbitrary.schema(Schema.Struct({ a: numbers, b: numbers, count: small, most: small }))
const texts = Arbitrary.schema(Schema.Struct({ text: Schema.String, count: small }))

const listOf = (indexes: Indexes.Indexes): ReadonlyArray<number> =>
  indexes.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))

const sorted = (all: Iterable<number>): ReadonlyArray<number> => [...new Set(all)].toSorted((x, y) => x - y)

const same = (indexes: Indexes.Indexes, all: Iterable<number>): boolean =>
  JSON.stringify(listOf(indexes)) === JSON.stringify(sorted(all)) &&
  indexes.every(([first], i) => i === 0 || first > (indexes[i - 1]?.[1] ?? 0) + 1)

/** The format of `completedIndexes`, built from single numbers. */
const textOf = (all: ReadonlyArray<number>): string => {
  const runs: Array<Array<number>> = []
  for (const one of sorted(all)) {
    const last = runs.at(-1)
    if (last !== undefined && last.at(-1) === one - 1) last.push(one)
    else runs.push([one])
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(","))).join(",")
}

describe("Indexes", () => {
  checkProperty("contains the given numbers, in intervals with gaps between them", two, ({ a }) =>
    same(Indexes.of(a), a)
  )

  checkProperty("has exactly its numbers", two, ({ a }) =>
    Array.from({ length: 26 }, (_, i) => i).every((i) => Indexes.has(Indexes.of(a), i) === a.includes(i))
  )

  checkProperty("a union has the numbers of both", two, ({ a, b }) =>
    same(Indexes.union(Indexes.of(a), Indexes.of(b)), [...a, ...b])
  )

  checkProperty("counts its numbers, and those common to two sets", two, ({ a, b }) => {
    const both = sorted(a).filter((one) => b.includes(one))
    return (
      Indexes.size(Indexes.of(a)) === sorted(a).length && Indexes.common(Indexes.of(a), Indexes.of(b)) === both.length
    )
  })

  checkProperty("is formatted like completedIndexes", two, ({ a }) => Indexes.format(Indexes.of(a)) === textOf(a))

  checkProperty("parses its own format, without indexes outside the Job", two, ({ a, count }) =>
    same(
      Indexes.parse(Indexes.format(Indexes.of(a)), count),
      a.filter((one) => one < count)
    )
  )

  checkProperty("parses any text", texts, ({ count, text }) =>
    same(Indexes.parse(text, count), listOf(Indexes.parse(text, count)))
  )

  checkProperty("returns the first missing numbers", two, ({ a, count, most }) => {
    const missing = Array.from({ length: count }, (_, i) => i).filter((i) => !a.includes(i))
    return JSON.stringify(Indexes.firstMissing(Indexes.of(a), count, most)) === JSON.stringify(missing.slice(0, most))
  })
})

describe("Indexes", () => {
  it("formats an empty set as an empty text", () => assert.strictEqual(Indexes.format(Indexes.parse("", 3)), ""))

  it("ignores the parts of a text that are neither an index nor an interval", () => {
    assert.strictEqual(Indexes.format(Indexes.parse("a1,2b,-3,4-5-6,,9-8, 7 ", 20)), "7")
  })
})
