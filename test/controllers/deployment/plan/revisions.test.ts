import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Annotations from "../../../../src/controllers/deployment/annotations.ts"
import * as Revisions from "../../../../src/controllers/deployment/plan/revisions.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { replicaSet } from "../objects.ts"

/** Annotation values, among them neighbours that a double cannot distinguish. */
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

describe("Revisions", () => {
  checkProperty("the two highest are exact, and never below zero", texts, (given) => {
    const [first = 0n, second = 0n] = readable(given)
      .filter((one) => one > 0n)
      .sort(descending)
    return Revisions.highest(sets(given)) === first && Revisions.secondHighest(sets(given)) === second
  })

  checkProperty("sets sort by revision, then by age", texts, (given) => {
    const rank = (revision: string): bigint => readable([revision])[0] ?? 0n
    const sorted = [...sets(given)].sort(Revisions.byRevision)
    return sorted.every((set, i) => {
      const next = sorted[i + 1]
      if (next === undefined) return true
      const [a, b] = [set, next].map((one) => rank(one.metadata.annotations?.[Annotations.revision] ?? ""))
      const [s, t] = [set, next].map((one) => `${one.metadata.creationTimestamp}${one.metadata.name}`)
      return (a ?? 0n) < (b ?? 0n) || (a === b && (s ?? "") < (t ?? ""))
    })
  })

  checkProperty(
    "a history is the longest suffix of all revisions within the limit",
    Arbitrary.all({ entries: Arbitrary.array(int(1, 19), { maxLength: 400 }), digits: int(1, 2100) }),
    ({ digits, entries }) => {
      const history = entries.map((length, i) => String(i % 10).repeat(length)).join(",")
      const revision = "8".repeat(digits)
      const all = history === "" ? revision : `${history},${revision}`
      const next = Revisions.extend(history, revision)
      if (digits > Revisions.historyLimit) return next === history
      const isEnd = all === next || all.endsWith(`,${next}`)
      const rest = all.slice(0, all.length - next.length - 1)
      const isLongest = all === next || next.length + 1 + (rest.split(",").at(-1)?.length ?? 0) > Revisions.historyLimit
      return isEnd && isLongest && next.length <= 2000 && next.endsWith(revision)
    }
  )
})

describe("revisions", () => {
  it("are int64: 3546343826724305832 keeps its value", () => {
    assert.strictEqual(Revisions.of(replicaSet({ revision: "3546343826724305832" })), 3546343826724305832n)
    assert.deepStrictEqual([replicaSet(), replicaSet({ revision: "" })].map(Revisions.of), [0n, 0n])
    assert.isUndefined(Revisions.of(replicaSet({ revision: "two" })))
    assert.isUndefined(Revisions.of(replicaSet({ revision: "9223372036854775808" })))
    assert.strictEqual(Revisions.of(replicaSet({ revision: "-9223372036854775808" })), -(2n ** 63n))
  })
})
