/** YAML bodies nested so deeply that a recursive reader overflows the stack. */
import { assert, describe, it } from "@effect/vitest"
import { toJson } from "../../../../src/apiserver/server/bodies/yamlBody.ts"

describe("a YAML body", () => {
  it("may be nested as deeply as a JSON body", () => {
    assert.strictEqual(toJson(`${"[".repeat(500)}${"]".repeat(500)}`), `${"[".repeat(500)}${"]".repeat(500)}`)
    assert.strictEqual(toJson(`a: '${"[".repeat(2000)}'`), `{"a":"${"[".repeat(2000)}"}`)
  })

  for (const [what, text] of [
    ["lists", "[".repeat(10_000)],
    ["lists that end", `${"[".repeat(501)}${"]".repeat(501)}`],
    ["maps", "{a: ".repeat(10_000)],
    ["lists in blocks", `${"- ".repeat(10_000)}a`],
    ["keys", `${"? ".repeat(10_000)}a`],
    ["maps in blocks", Array.from({ length: 1000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")]
  ] as const) {
    it(`of ${what} is rejected if they are nested more deeply`, () =>
      assert.throws(() => toJson(text), /nested too deeply/))
  }
})
