import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Edit from "../../../../src/cli/create/project/edit.ts"
import * as Source from "../../../../src/cli/create/project/source.ts"
import { checkProperty } from "../../../support/property.ts"

const read = (text: string) => Result.getOrThrow(Source.read("a.ts", text))

/** With an element more in the first list. */
const appended = (text: string, item = "new"): string => {
  const source = read(text)
  const open = source.tokens.findIndex((token) => token.text === "[" || token.text === "{")
  return Edit.apply(text, [Edit.append(source, open, item)])
}

describe("an element more", () => {
  it("continues the layout of the list", () => {
    assert.strictEqual(appended("x = []"), "x = [new]")
    assert.strictEqual(appended("x = [a]"), "x = [a, new]")
    assert.strictEqual(appended("x = { a }"), "x = { a, new }")
    assert.strictEqual(appended("x = [a, ]"), "x = [a, new ]")
    assert.strictEqual(appended("  x = [\n    a\n  ]"), "  x = [\n    a,\n    new\n  ]")
    assert.strictEqual(appended("x = [\n\ta,\n]"), "x = [\n\ta,\n\tnew,\n]")
    assert.strictEqual(appended("x = [\r\n  a\r\n]"), "x = [\r\n  a,\r\n  new\r\n]")
    assert.strictEqual(appended("x = [\n  // none yet\n]"), "x = [\n  // none yet\n  new\n]")
    assert.strictEqual(appended("x = [\n  a // the first\n]"), "x = [\n  a,\n  new // the first\n]")
  })

  it("breaks a line that becomes too long, if there is no comment in it", () => {
    const long = "b".repeat(115)
    assert.strictEqual(appended("  x = [a]", long), `  x = [\n    a,\n    ${long}\n  ]`)
    assert.strictEqual(appended("  x = [/* a */ a]", long), `  x = [/* a */ a, ${long}]`)
  })
})

describe("an import more", () => {
  const imported = (text: string): string | undefined => {
    const edit = Edit.importing(read(text), "A", "./A.ts")
    return edit && Edit.apply(text, [edit])
  }

  it("is after the last one, in its style, and only if it is missing", () => {
    assert.strictEqual(
      imported('import { b } from "b"\n\nb()\n'),
      'import { b } from "b"\nimport { A } from "./A.ts"\n\nb()\n'
    )
    assert.strictEqual(
      imported("import {\n  b\n} from 'b';\nb();"),
      "import {\n  b\n} from 'b';\nimport { A } from './A.ts';\nb();"
    )
    assert.strictEqual(imported("/** A file. */\nb()"), '/** A file. */\nimport { A } from "./A.ts"\n\nb()')
    assert.isUndefined(imported('import { A, b } from "./A.ts"'))
  })
})

describe("Edit", () => {
  const space = Schema.Literals(["", " ", "\n  ", "\n\n", " /* [ */ ", " // {\n"])
  const element = Schema.Literals(["a", "b()", "{ c: [1, 2] }", '"],"', "`${[d]}`", "(e, f)", "/,]/"])
  const list = Arbitrary.schema(
    Schema.Struct({ items: Schema.Array(Schema.Tuple([space, element, space])), comma: Schema.Boolean, end: space })
  )

  checkProperty(
    "an appended element is the last, and the others keep their text and order",
    list,
    ({ comma, end, items }) => {
      const body = items.map((parts) => parts.join("")).join(",")
      const text = `x = [${body}${comma && items.length > 0 ? "," : ""}${end}]\ny`
      const after = read(appended(text))
      const all = Source.elements(after, 2).map((range) => Edit.textOf(after, range))
      return JSON.stringify(all) === JSON.stringify([...items.map(([, item]) => item), "new"])
    }
  )
})
