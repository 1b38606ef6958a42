import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { distance, hint, nearest } from "../../../src/manager/setting/nearest.ts"

const word = Schema.Array(Schema.Literals(["a", "b", "c"])).pipe(Schema.check(Schema.isMaxLength(8)))

describe("nearest", () => {
  for (const [a, b, expected] of [
    ["", "", 0],
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["controlers", "controllers", 1],
    ["ab", "ba", 1],
    ["leader-elcet", "leader-elect", 1]
  ] as const) {
    it(`${a || "nothing"} and ${b || "nothing"} are ${expected} apart`, () =>
      assert.strictEqual(distance(a, b), expected))
  }

  it.prop("is zero for the same word alone, and the same both ways", [word, word], ([one, two]) => {
    const [a, b] = [one.join(""), two.join("")]
    assert.strictEqual(distance(a, b) === 0, a === b)
    assert.strictEqual(distance(a, b), distance(b, a))
    assert.isAtLeast(distance(a, b), Math.abs(a.length - b.length))
    assert.isAtMost(distance(a, b), Math.max(a.length, b.length))
  })

  it("finds the closest of several, whatever the case, and nothing that is far off", () => {
    const names = ["context", "controllers", "config"]
    assert.strictEqual(nearest("contexts", names), "context")
    assert.strictEqual(nearest("CONFIG", names), "config")
    assert.isUndefined(nearest("xyz", names))
    assert.strictEqual(
      hint("contexts", names, (name) => `"${name}"`),
      ': did you mean "context"?'
    )
    assert.strictEqual(hint("xyz", names), "")
  })
})
