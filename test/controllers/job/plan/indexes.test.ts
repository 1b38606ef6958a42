/** Sets of indexes are sets, whatever form they are in: spec D.7. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Indexes from "../../../../src/controllers/job/plan/indexes.ts"
import { law, prove } from "../../../support/laws.ts"

type Module = typeof Indexes

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

/** As the reference writes it, number by number. */
const textOf = (all: ReadonlyArray<number>): string => {
  const runs: Array<Array<number>> = []
  for (const one of sorted(all)) {
    const last = runs.at(-1)
    if (last !== undefined && last.at(-1) === one - 1) last.push(one)
    else runs.push([one])
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(","))).join(",")
}

prove<Module>({
  path: "controllers/job/plan/indexes.ts",
  module: Indexes,
  laws: [
    law("holds what it was made of, in runs with gaps between", two, ({ of }, { a }) => same(of(a), a)),
    law("has what it holds, and nothing else", two, ({ has, of }, { a }) =>
      Array.from({ length: 26 }, (_, i) => i).every((i) => has(of(a), i) === a.includes(i))
    ),
    law("a union holds what either holds", two, ({ of, union }, { a, b }) => same(union(of(a), of(b)), [...a, ...b])),
    law("counts what it holds, and what two have in common", two, ({ common, of, size }, { a, b }) => {
      const both = sorted(a).filter((one) => b.includes(one))
      return size(of(a)) === sorted(a).length && common(of(a), of(b)) === both.length
    }),
    law("is written in the reference's way", two, ({ format, of }, { a }) => format(of(a)) === textOf(a)),
    law("reads what it wrote, without what the Job has no more", two, ({ format, of, parse }, { a, count }) =>
      same(
        parse(format(of(a)), count),
        a.filter((one) => one < count)
      )
    ),
    law("reads anything", texts, ({ parse }, { count, text }) => same(parse(text, count), listOf(parse(text, count)))),
    law("names the first that are missing", two, ({ firstMissing, of }, { a, count, most }) => {
      const missing = Array.from({ length: count }, (_, i) => i).filter((i) => !a.includes(i))
      return JSON.stringify(firstMissing(of(a), count, most)) === JSON.stringify(missing.slice(0, most))
    })
  ],
  mutants: [
    { title: "two in a row are a run", find: "last === first + 1", replace: "last === first - 1" },
    { title: "neighbours stay apart", find: "first <= before[1] + 1", replace: "first <= before[1]" },
    { title: "a shorter run shortens a longer one", find: "Math.max(before[1], last)", replace: "last" },
    { title: "the last index is one too many", find: "count - 1)", replace: "count)" },
    { title: "looks one run too far", find: "?? 0) < index", replace: "?? 0) <= index" },
    { title: "one more than asked for", find: "found.length < most", replace: "found.length <= most" },
    { title: "what runs share is one short", find: "Math.max(x[0], y[0]) + 1", replace: "Math.max(x[0], y[0])" },
    { title: "the run after a gap is missing", find: "next = last + 1", replace: "next = last" }
  ]
})

describe("an empty set", () => {
  it("is an empty text", () => assert.strictEqual(Indexes.format(Indexes.parse("", 3)), ""))
})
