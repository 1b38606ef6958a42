/** YAML bodies: any text is JSON or refused, also one nested so deeply that a recursive reader overflows the stack. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { toJson } from "../../../../src/apiserver/server/bodies/yamlBody.ts"

describe("a YAML body", () => {
  it("may be nested as deeply as a JSON body", () => {
    const nested = `${"[".repeat(500)}${"]".repeat(500)}`
    assert.deepStrictEqual(toJson(nested), Result.succeed(nested))
    assert.deepStrictEqual(toJson(`a: '${"[".repeat(2000)}'`), Result.succeed(`{"a":"${"[".repeat(2000)}"}`))
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
      assert.match(Result.merge(toJson(text)), /nested too deeply/))
  }

  it("is refused when it is no document, more than one, or has an alias of nothing", () => {
    for (const text of ["# nothing", "a: 1\n---\nb: 2", "a: *b", "{", "a: 1\na: 2"]) {
      assert.isTrue(Result.isFailure(toJson(text)), text)
    }
  })

  it.prop("of any text is JSON or refused with a reason", { text: Arbitrary.schema(Schema.String) }, ({ text }) => {
    const json = toJson(text)
    if (Result.isSuccess(json)) JSON.parse(json.success)
    else assert.match(json.failure, /\S/)
  })
})
