import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Source from "../../../../src/cli/create/project/source.ts"
import { checkProperty } from "../../../support/property.ts"
import { filesIn } from "../drafts.ts"

const read = (text: string) => Result.getOrThrow(Source.read("src/a.ts", text))

const texts = (text: string) => read(text).tokens.map((token) => token.text)

describe("source as tokens", () => {
  it("has strings, templates, regular expressions and comments as one token or none", () => {
    assert.deepStrictEqual(texts(`a("]", '\\'', \`{\`) // ]\n/* } */ b`), [
      "a",
      "(",
      '"]"',
      ",",
      "'\\''",
      ",",
      "`{`",
      ")",
      "b"
    ])
    assert.deepStrictEqual(texts("`a${ { b: `}` } }c`"), ["`a", "${", "{", "b", ":", "`}`", "}", "}c`"])
    assert.deepStrictEqual(texts('x = /[/"]\\/{/g.test(y) / 2 / z'), [
      "x",
      "=",
      '/[/"]\\/{/g',
      ".",
      "test",
      "(",
      "y",
      ")",
      "/",
      "2",
      "/",
      "z"
    ])
  })

  it("refuses what it cannot read, with file and line", () => {
    const refusal = (text: string) => {
      const made = Source.read("src/a.ts", text)
      return Result.isFailure(made) ? made.failure.message : "accepted"
    }
    assert.strictEqual(refusal("a\n(]"), "src/a.ts:2: there is no bracket for this ]; create does not edit this file")
    assert.match(refusal("a\n\n("), /^src\/a\.ts:3: the bracket \( is not closed/)
    assert.match(refusal("a\n'b\n'"), /^src\/a\.ts:2: a string does not end/)
    assert.match(refusal("`${`"), /a template does not end/)
    assert.match(refusal("/* a"), /a comment does not end/)
    assert.match(refusal("}"), /there is no bracket for this }/)
  })

  it("finds calls, properties, elements and imports at their level only", () => {
    const source = read(`
      import * as A from 'a'
      import { type B, c as d } from "./b.ts";
      import "e"
      const f = () => import("g")
      export const H = Resource.make({ kind: "K", nested: { kind: "no" }, list: [1, [2, 3],], short, ...rest, "quoted": 1 })
      run({ a: run() })
    `)
    assert.deepStrictEqual(
      Source.imports(source).map(({ names, specifier }) => [specifier].concat(names)),
      [["a", "A"], ["./b.ts", "B", "d"], ["e"]]
    )
    const [made, run] = Source.calls(source).filter(({ callee }) => callee !== "import")
    assert.deepStrictEqual([made?.name, made?.callee, run?.name, run?.callee], ["H", "Resource.make", undefined, "run"])
    const open = (made?.open ?? 0) + 1
    assert.deepStrictEqual(
      Source.properties(source, open).map(({ key }) => key),
      ["kind", "nested", "list", "short", undefined, "quoted"]
    )
    const list = Source.property(source, open, "list")
    assert.lengthOf(Source.elements(source, list?.value ?? 0), 2)
  })

  it("reads every source of this package and of the templates, and every bracket has its partner", () => {
    const root = new URL("../../../../", import.meta.url).pathname
    for (const folder of ["src", "templates", "examples/memcached-operator/src"]) {
      for (const [path, text] of filesIn(root + folder)) {
        if (!path.endsWith(".ts") || path.includes("node_modules")) continue
        const made = Source.read(path, text)
        assert.isTrue(Result.isSuccess(made), Result.isFailure(made) ? made.failure.message : path)
      }
    }
  })

  const piece = Schema.Literals([
    ...Array.from("()[]{}'\"`/\\$*\n ,:;.="),
    "${",
    "a",
    "//",
    "/*",
    "*/",
    "import",
    "from",
    "run({",
    "0"
  ])
  const pieces = Arbitrary.schema(Schema.Array(piece))

  checkProperty("any text is refused, or its tokens and comments are that text without blanks", pieces, (all) => {
    const text = all.join("")
    const made = Source.read("a.ts", text)
    if (Result.isFailure(made)) return made.failure.message.startsWith("a.ts:")
    const { comments, tokens } = made.success
    const parts = [...tokens, ...comments].sort((a, b) => a.start - b.start)
    const between = parts.map(({ start }, index) => text.slice(parts[index - 1]?.end ?? 0, start))
    Source.imports(made.success)
    Source.calls(made.success)
    return [...between, text.slice(parts.at(-1)?.end ?? 0)].every((blank) => blank.trim() === "")
  })
})
