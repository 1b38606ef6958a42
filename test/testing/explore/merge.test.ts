/** Reports of searches that share the work, joined into one. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { type Kind, kinds, nameOf } from "../../../src/testing/explore/perturbation.ts"
import { merge } from "../../../src/testing/explore/report/merge.ts"
import type { Failure } from "../../../src/testing/explore/failures.ts"
import { checkProperty } from "../../support/property.ts"
import { failure, report } from "./reports.ts"

const names = Object.keys(kinds) as ReadonlyArray<Kind>

/** Runs that failed: the perturbation, the step after which the scenario ended, the cause, and the share that ran it. */
const failed = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(names),
      at: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 })),
      // 0: the whole scenario.
      until: Schema.Literals([0, 1, 2]),
      cause: Schema.Literals(["leak", "loop", "defect"]),
      share: Schema.Literals([0, 1, 2, 3])
    })
  )
)

type Failed = typeof failed extends Arbitrary.Arbitrary<infer A> ? A : never

/** The failures of one search, as it collects them: the first run of each cause, and the names of the others. */
const search = (runs: Failed): ReadonlyArray<Failure> => {
  const inOrder = runs.toSorted(
    (a, b) => names.indexOf(a.kind) - names.indexOf(b.kind) || a.at - b.at || a.until - b.until
  )
  const found = new Map<string, Array<string>>()
  for (const one of inOrder) {
    const ids = found.get(one.cause) ?? []
    const { at, kind, until } = one
    const id = nameOf({ perturbations: [{ kind, at }], until: until === 0 ? undefined : until })
    if (!ids.includes(id)) ids.push(id)
    found.set(one.cause, ids)
  }
  return Array.from(found, ([cause, [id = "", ...also]]) => failure(id, cause, also))
}

describe("merge", () => {
  checkProperty("shares in any order have the failures of one search", failed, (runs) => {
    const [first = [], ...rest] = [0, 1, 2, 3].map((share) => search(runs.filter((one) => one.share === share)))
    const of = (failures: ReadonlyArray<Failure>) => report({ failures })
    const whole = merge([of(search(runs))]).failures
    const joined = merge([of(first), ...rest.map(of)]).failures
    const reversed = merge([of(rest[2] ?? []), of(rest[1] ?? []), of(rest[0] ?? []), of(first)]).failures
    assert.deepStrictEqual(joined, whole)
    assert.deepStrictEqual(reversed, whole)
    return true
  })

  it("adds up what was tried, and counts the undisturbed run once", () => {
    const of = (tried: number, runs: number, combinations: number) =>
      report({
        runs,
        combinations,
        millis: 10,
        coverage: [
          { kind: "crash", points: 5, tried },
          { kind: "lost", points: 5, tried: 1 }
        ]
      })
    const { combinations, coverage, millis, runs } = merge([of(3, 5, 1), of(2, 4, 0)])
    assert.deepStrictEqual(coverage, [
      { kind: "crash", points: 5, tried: 5 },
      { kind: "lost", points: 5, tried: 2 }
    ])
    assert.deepStrictEqual([runs, combinations, millis], [8, 1, 20])
  })

  it("prefers fewer perturbations to earlier ones, and no perturbation to any", () => {
    const pair = failure("crash@write#1+crash@write#2", "leak")
    const single = failure("lost@write#9", "leak", ["gap@event#1"])
    const none = failure("", "loop")
    const [first, second] = merge([report({ failures: [pair] }), report({ failures: [single, none] })]).failures
    assert.strictEqual(first?.cause, "loop")
    assert.strictEqual(second?.id, "lost@write#9")
    assert.deepStrictEqual(second?.also, ["gap@event#1", "crash@write#1+crash@write#2"])
  })

  it("names the same failure in other generated scenarios", () => {
    const here = { ...failure("crash@write#2", "leak", ["lifecycle:lost@write#1"]), scenario: "lifecycle[1]" }
    const there = { ...failure("crash@write#3", "leak"), scenario: "spec.size" }
    const [found] = merge([report({ failures: [there] }), report({ failures: [here] })]).failures
    assert.deepInclude(found, { id: "crash@write#2", scenario: "lifecycle[1]" })
    assert.deepStrictEqual(found?.also, ["spec.size:crash@write#3", "lifecycle:lost@write#1"])
  })

  it("keeps the reason why a share could not explore", () => {
    assert.strictEqual(merge([report(), report({ problem: "two runs differ" })]).problem, "two runs differ")
  })
})
