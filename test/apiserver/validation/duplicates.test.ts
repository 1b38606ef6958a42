/** Duplicate members in JSON text, at any depth. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as duplicates from "../../../src/apiserver/validation/duplicates.ts"

const examples: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  [`{}`, []],
  [`{"a":1,"b":[1,2,{"a":1}],"c":{"a":1}}`, []],
  [`{"a":1,"a":2}`, ["a"]],
  [`{"a":1,"a":2,"a":3}`, ["a", "a"]],
  [`{"spec":{"x":1, "y":{} ,"x":[]}}`, ["spec.x"]],
  [`{"l":[{"a":1},{"a":1,"b":"a","a":2}]}`, ["l[1].a"]],
  [`[[{"a":1,"a":1}]]`, ["[0][0].a"]],
  [String.raw`{"\u0061":1,"a":2}`, ["a"]],
  [String.raw`{"a\"":"}{,\"a\":","a\\":"a\\","b":1,"b":1}`, ["b"]]
]

const Key = Schema.Literals(["a", "b", 'q"', "\\", "ü", "{", "[,:"])
const Tree = Schema.Union([
  Schema.Record(
    Key,
    Schema.Union([Schema.Literals(["x", '"a":', "\\"]), Schema.Array(Schema.Record(Key, Schema.Null))])
  ),
  Schema.Array(Schema.Record(Key, Schema.Int))
])

describe("duplicate members", () => {
  it("are found with their paths", () => {
    for (const [text, found] of examples) assert.deepStrictEqual(duplicates.find(text), found, text)
  })

  it.effect.prop("are never found in the output of JSON.stringify", { tree: Arbitrary.schema(Tree) }, ({ tree }) =>
    Effect.sync(() => assert.deepStrictEqual(duplicates.find(JSON.stringify(tree, undefined, 1)), []))
  )

  it("are found in deeply nested text without recursion", () => {
    const deep = 200_000
    assert.deepStrictEqual(duplicates.find(`${"[".repeat(deep)}${"]".repeat(deep)}`), [])
  })
})
