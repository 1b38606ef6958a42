/** Expressions and values that are made to keep the server busy: each ends with an error, after a bounded amount of work. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Cel from "../../../src/kube/cel/Cel.ts"
import * as Type from "../../../src/kube/cel/Type.ts"

const run = (text: string, object: unknown = {}): string => {
  const program = Cel.compile(text, { object: Type.dyn })
  if (Result.isFailure(program)) return program.failure.split("\n")[0] ?? ""
  const result = Cel.evaluate(program.success, { object }, { remaining: Cel.requestBudget })
  return Result.isSuccess(result) ? "a value" : result.failure.message
}

const exceeded = "operation cancelled: actual cost limit exceeded"
const list = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
const many = { items: Array.from({ length: 1000 }, (_, index) => index) }

describe("an expression that would run for long", () => {
  it.each([
    ["nested comprehensions", `${`${list}.all(v, `.repeat(12)}true${")".repeat(12)}`],
    [
      "a comprehension of comprehensions over the object",
      "object.items.all(a, object.items.all(b, object.items.all(c, a + b + c >= 0)))"
    ],
    ["a text that grows", `'${"a".repeat(100)}'${`.replace('', '${"b".repeat(100)}')`.repeat(4)}.size() > 0`],
    ["a list without end", "lists.range(9000000000000000000).size() > 0"],
    ["values that share their parts", `[[0]]${".map(x, [x, x])".repeat(28)} == [[1]]${".map(x, [x, x])".repeat(28)}`],
    [
      "an expression that backtracks",
      "object.text.matches('^(a+)+$') && object.text.matches('(a?){500}a{500}') && object.text.matches('(x+x+)+y')"
    ]
  ])("ends: %s", (_, text) => {
    const answer = run(text, { ...many, text: `${"a".repeat(100_000)}!` })
    assert.include([exceeded, "a value"], answer)
  })

  it("ends with the error of the limit, where it does not end by itself", () => {
    assert.strictEqual(run(`${`${list}.all(v, `.repeat(12)}true${")".repeat(12)}`), exceeded)
    assert.strictEqual(run("lists.range(9000000000000000000).size() > 0"), exceeded)
  })
})

describe("a text that would exhaust the stack or the memory", () => {
  it.each([
    ["parentheses", `${"(".repeat(40_000)}1${")".repeat(40_000)}`],
    ["lists", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
    ["conditions", `${"true ? 1 : ".repeat(9000)}1`],
    ["a chain of fields", `object${".a".repeat(49_000)}`],
    ["a sum", `1${" + 1".repeat(24_000)}`]
  ])("is refused: %s", (_, text) => {
    assert.include(run(text), "expression recursion limit exceeded: 250")
  })

  it("is refused, if it is longer than the server reads", () => {
    assert.include(run(`'${"a".repeat(100_001)}'`), "expression code point size exceeds limit")
  })
})
