/** Repeated members are found in the text, wherever they are and however deep. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as duplicates from "../../../../src/layers/apiserver/rules/duplicates.ts"
import { load } from "../../../support/mutant.ts"

type Finder = typeof duplicates

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

const follows = (module: Finder) => {
  for (const [text, found] of examples) assert.deepStrictEqual(module.find(text), found, text)
}

const Key = Schema.Literals(["a", "b", 'q"', "\\", "ü", "{", "[,:"])
const Tree = Schema.Union([
  Schema.Record(
    Key,
    Schema.Union([Schema.Literals(["x", '"a":', "\\"]), Schema.Array(Schema.Record(Key, Schema.Null))])
  ),
  Schema.Array(Schema.Record(Key, Schema.Int))
])

describe("duplicate members", () => {
  it("are found with their paths", () => assert.doesNotThrow(() => follows(duplicates)))

  it.effect.prop("are never found in what a program has written", { tree: Arbitrary.schema(Tree) }, ({ tree }) =>
    Effect.sync(() => assert.deepStrictEqual(duplicates.find(JSON.stringify(tree, undefined, 1)), []))
  )

  it("are looked for without recursion", () => {
    const deep = 200_000
    assert.deepStrictEqual(duplicates.find(`${"[".repeat(deep)}${"]".repeat(deep)}`), [])
  })

  for (const mutation of [
    { title: "forgets escapes", find: `text[at] === "\\\\" ? 2 : 1`, replace: "1" },
    { title: "takes values for names", find: "top.naming = false", replace: "" },
    { title: "counts no elements", find: "top.index++", replace: "" },
    { title: "stays in what has ended", find: "top = stack[stack.length - 1]", replace: "" }
  ]) {
    it(`mutant: ${mutation.title}`, async () => {
      const mutant = await load<Finder>("layers/apiserver/rules/duplicates.ts", mutation)
      let survived = true
      try {
        follows(mutant)
      } catch {
        survived = false
      }
      assert.deepStrictEqual(survived, false)
    })
  }
})
