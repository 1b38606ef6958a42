import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Annotations from "../../../src/controllers/deployment/annotations.ts"
import * as Revisions from "../../../src/controllers/deployment/revisions.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"
import { replicaSet } from "./objects.ts"

/** What may be written in the annotation: neighbours that a double cannot tell apart among it. */
const text = oneOf(
  ...(["", "0", "1", "2", "3", "7", "-4", "x", "1.5", "9223372036854775808"] as const),
  ...(["3546343826724305831", "3546343826724305832", "3546343826724305833"] as const)
)

const readable = (texts: ReadonlyArray<string>): ReadonlyArray<bigint> =>
  texts.filter((one) => /^-?\d+$/.test(one) && BigInt(one) < 2n ** 63n).map(BigInt)

const sets = (texts: ReadonlyArray<string>) =>
  texts.map((revision, i) => replicaSet({ name: `web-${i}`, created: (i * 3) % 4, revision }))

const texts = Arbitrary.array(text, { maxLength: 6 })

const descending = (a: bigint, b: bigint): number => (a > b ? -1 : a < b ? 1 : 0)

prove<typeof Revisions>({
  path: "controllers/deployment/revisions.ts",
  module: Revisions,
  laws: [
    law("the two highest are exact, and never below zero", texts, ({ highest, secondHighest }, given) => {
      const [first = 0n, second = 0n] = readable(given)
        .filter((one) => one > 0n)
        .sort(descending)
      return highest(sets(given)) === first && secondHighest(sets(given)) === second
    }),
    law("sets sort by revision, then by age", texts, ({ byRevision }, given) => {
      const rank = (revision: string): bigint => readable([revision])[0] ?? 0n
      const sorted = [...sets(given)].sort(byRevision)
      return sorted.every((set, i) => {
        const next = sorted[i + 1]
        if (next === undefined) return true
        const [a, b] = [set, next].map((one) => rank(one.metadata.annotations?.[Annotations.revision] ?? ""))
        const [s, t] = [set, next].map((one) => `${one.metadata.creationTimestamp}${one.metadata.name}`)
        return (a ?? 0n) < (b ?? 0n) || (a === b && (s ?? "") < (t ?? ""))
      })
    }),
    law(
      "a history is the longest end of all revisions that fits",
      Arbitrary.all({ entries: Arbitrary.array(int(1, 19), { maxLength: 400 }), digits: int(1, 2100) }),
      ({ extend, historyLimit }, { digits, entries }) => {
        const history = entries.map((length, i) => String(i % 10).repeat(length)).join(",")
        const revision = "8".repeat(digits)
        const all = history === "" ? revision : `${history},${revision}`
        const next = extend(history, revision)
        if (digits > historyLimit) return next === history
        const isEnd = all === next || all.endsWith(`,${next}`)
        const rest = all.slice(0, all.length - next.length - 1)
        const isLongest = all === next || next.length + 1 + (rest.split(",").at(-1)?.length ?? 0) > historyLimit
        return isEnd && isLongest && next.length <= 2000 && next.endsWith(revision)
      }
    )
  ],
  mutants: [
    {
      title: "revisions are doubles",
      find: `"" ? 0n : Annotations.int64(text)`,
      replace: `"" ? 0n : Number.isInteger(Number(text)) ? BigInt(Number(text)) : undefined`
    },
    {
      title: "an unreadable one is the highest",
      find: ".filter((revision) => revision !== undefined)",
      replace: ".map((revision) => revision ?? 99n)"
    },
    { title: "the lowest is the highest", find: "compare(b, a)", replace: "compare(a, b)" },
    { title: "the second is the first", find: "ranked(sets)[1]", replace: "ranked(sets)[0]" },
    { title: "newest first among equals", find: "ReplicaSets.byAge(a, b)", replace: "ReplicaSets.byAge(b, a)" },
    {
      title: "a history without end",
      find: "while (length > historyLimit)",
      replace: "while (length > historyLimit * 9)"
    },
    {
      title: "the newest is dropped",
      find: "entries.slice(dropped)",
      replace: "entries.slice(0, entries.length - dropped)"
    },
    {
      title: "one character too many",
      find: "history.length + 1 + revision.length",
      replace: "history.length + revision.length"
    },
    { title: "one entry too few", find: "entries.slice(dropped)", replace: "entries.slice(dropped + 1)" }
  ]
})

describe("revisions", () => {
  it("are int64: 3546343826724305832 stays what it is", () => {
    assert.strictEqual(Revisions.of(replicaSet({ revision: "3546343826724305832" })), 3546343826724305832n)
    assert.deepStrictEqual([replicaSet(), replicaSet({ revision: "" })].map(Revisions.of), [0n, 0n])
    assert.isUndefined(Revisions.of(replicaSet({ revision: "two" })))
    assert.isUndefined(Revisions.of(replicaSet({ revision: "9223372036854775808" })))
    assert.strictEqual(Revisions.of(replicaSet({ revision: "-9223372036854775808" })), -(2n ** 63n))
  })
})
