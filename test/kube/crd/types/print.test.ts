/** The source of expressions: its lines, and that no text ends its literal. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { call, data, fields, method, name } from "../../../../src/kube/crd/types/Expression.ts"
import { print, quote } from "../../../../src/kube/crd/types/print.ts"
import { checkProperty } from "../../../support/property.ts"

const texts = Arbitrary.schema(
  Schema.Array(
    Schema.Literals([
      "a",
      " ",
      '"',
      "\\",
      "\n",
      "`",
      "${",
      "*/",
      "\u2028",
      "\u202e",
      "\ud800",
      "\u0000",
      "word ".repeat(30)
    ])
  )
)

describe("print", () => {
  it("keeps what fits on a line, and breaks the outermost that does not", () => {
    assert.strictEqual(print(fields([["a", name("Schema.String")]]), 0, 0), "{ a: Schema.String }")
    const long = call(
      "Schema.Struct",
      fields([
        ["a", data("x".repeat(60))],
        ["b-c", data("y".repeat(60))]
      ])
    )
    assert.strictEqual(
      print(method(long, "annotate", data({ title: "T" })), 0, 0),
      `Schema.Struct({\n  a: "${"x".repeat(60)}",\n  "b-c": "${"y".repeat(60)}"\n}).annotate({ title: "T" })`
    )
  })

  it("defines a member __proto__ instead of setting the prototype", () => {
    assert.strictEqual(print(data(JSON.parse('{"__proto__": 1}')), 0, 0), '{ ["__proto__"]: 1 }')
  })

  checkProperty("prints a text that is the same when it is read, without characters that hide", texts, (parts) => {
    const text = parts.join("")
    const printed = print(fields([["description", data(text)]]), 0, 0)
    // oxlint-disable-next-line typescript/no-implied-eval -- the printed source is what is tested
    const read = new Function(`return ${printed}`)() as { readonly description: string }
    return (
      read.description === text &&
      printed.split("\n").every((line) => line.length <= 120) &&
      ["\u0000", "\u2028", "\u202e", "\ud800"].every((character) => !printed.includes(character)) &&
      JSON.parse(quote(text)) === text
    )
  })
})
