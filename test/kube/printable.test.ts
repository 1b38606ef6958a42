import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { printable } from "../../src/kube/printable.ts"

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
