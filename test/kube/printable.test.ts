import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { excerpt, printable } from "../../src/kube/printable.ts"

/** The control sequences of a terminal, by their first character. */
const controlSequences = [
  ["an escape sequence", "\u001b[2J\u001b]0;name\u0007"],
  ["one of a single character", "\u009b2J"],
  ["a carriage return", "ok\rFAILED"],
  ["a backspace", "ab\b"],
  ["a deletion", "\u007f"],
  ["null", "\u0000"],
  ["a turn of direction", "\u202egnp.exe"],
  ["an isolate", "\u2066a\u2069"],
  ["a mark of direction", "\u200f\u061c"],
  ["a separator of lines", "a\u2028b\u2029c"]
] as const

// eslint-disable-next-line no-control-regex -- the test searches for these characters
const unsafeCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

describe("printable", () => {
  for (const [name, text] of controlSequences) {
    it(`escapes ${name}`, () => {
      assert.notMatch(printable(text), unsafeCharacters)
      assert.strictEqual(JSON.parse(`"${printable(text)}"`), text)
    })
  }

  it("does not change plain text", () => {
    for (const text of ["", "a b\tc\n", "naïve – “x” … 名前 👩‍👩‍👧 \ud800", "שלום"])
      assert.strictEqual(printable(text), text)
  })

  it.prop(
    "leaves no control character, and does not change the value of JSON text",
    { text: Schema.String },
    ({ text }) => {
      const inJson = printable(JSON.stringify(`${text}\u009b\u202e`))
      return (
        !unsafeCharacters.test(printable(text)) &&
        !unsafeCharacters.test(inJson) &&
        JSON.parse(inJson) === `${text}\u009b\u202e`
      )
    }
  )
})

describe("an excerpt", () => {
  it("is one printable line of at most so many characters, and then says that there is more", () => {
    assert.strictEqual(excerpt(" a\n\u001b[2Jb ", 20), "a \\u001b[2Jb")
    assert.strictEqual(excerpt("x".repeat(11), 10), `${"x".repeat(10)}…`)
    assert.strictEqual(excerpt("x".repeat(10), 10), "x".repeat(10))
    assert.strictEqual(excerpt("\u0000".repeat(10), 10), "\\u0000\\u00…")
  })

  it("does not keep a long text in memory", () => {
    const collect = (globalThis as { readonly gc?: () => void }).gc ?? newCollector()
    collect()
    const before = process.memoryUsage().heapUsed
    const excerpts = Array.from({ length: 100 }, (_, n) => excerpt(Buffer.alloc(1 << 20, String(n)).toString(), 100))
    collect()
    assert.isBelow(process.memoryUsage().heapUsed - before, 10 << 20)
    assert.lengthOf(excerpts, 100)
  })
})

/** Node has no collector for programs without this flag. */
const newCollector = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}
