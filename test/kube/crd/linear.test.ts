/**
 * Patterns of a kind's Schemas run in linear time and in the API server's dialect, wherever in a Schema they are. The dialects differ in white
 * space and in line ends, which shows the engine: a no-break space is `\s` in JavaScript and not in RE2, U+2028 is `.` in RE2 and not in JavaScript.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Codec from "../../../src/kube/crd/codec.ts"
import { compile } from "../../../src/kube/structural/pattern.ts"

const odd = /^(?:\s|.!)$/

const blank = Schema.String.check(Schema.isPattern(odd))

interface Tree {
  readonly value: string
  readonly children?: ReadonlyArray<Tree>
}

const Tree = Schema.Struct({
  value: blank,
  children: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)))
})

class Named extends Schema.Class<Named>("Named")({ name: blank }) {}

const schemas: ReadonlyArray<readonly [string, Codec.AnySchema, (text: string) => unknown]> = [
  ["alone", blank, (text) => text],
  ["in a field", Schema.Struct({ a: blank }), (a) => ({ a })],
  ["in a field that may be missing", Schema.Struct({ a: Schema.optional(blank) }), (a) => ({ a })],
  ["in a list", Schema.Array(blank), (a) => [" ", a]],
  ["in a record", Schema.Record(Schema.String, blank), (a) => ({ a })],
  ["in a union", Schema.Union([Schema.Number, Schema.Struct({ a: blank })]), (a) => ({ a })],
  ["where null is allowed", Schema.NullOr(blank), (a) => a],
  ["beside other checks", Schema.String.check(Schema.isMinLength(1), Schema.isPattern(odd)), (a) => a],
  [
    "in a group of checks",
    Schema.String.check(Schema.makeFilterGroup([Schema.isMinLength(1), Schema.isPattern(odd)])),
    (a) => a
  ],
  ["with flags", Schema.String.check(Schema.isPattern(/^A(?:\s|.!)$/imu)), (a) => `a${a}`],
  ["with a brand", blank.pipe(Schema.brand("Blank")), (a) => a],
  [
    "with a default",
    Schema.Struct({ a: blank.pipe(Schema.withDecodingDefaultKey(Effect.succeed(" "))) }),
    (a) => ({ a })
  ],
  [
    "behind a transformation",
    Schema.Struct({ a: Schema.Trim.pipe(Schema.decodeTo(Schema.String)), b: blank }),
    (b) => ({ a: "", b })
  ],
  ["before a transformation", blank.pipe(Schema.decodeTo(Schema.String)), (a) => a],
  ["in a class", Named, (name) => ({ name })],
  ["in a tree", Tree, (value) => ({ value: " ", children: [{ value }] })]
]

describe("patterns of Schemas", () => {
  for (const [where, schema, make] of schemas) {
    it(`match in the API server's dialect ${where}`, () => {
      const { decode } = Codec.make(schema)
      assert.isTrue(Result.isSuccess(decode(make(" "))), "a space")
      assert.isTrue(Result.isFailure(decode(make("\u00a0"))), "a no-break space")
      assert.isTrue(Result.isSuccess(decode(make("\u2028!"))), "a line separator")
    })
  }

  it("match the keys of a record in the API server's dialect", () => {
    const { decode } = Codec.make(Schema.Record(blank, Schema.Number))
    assert.deepStrictEqual(decode({ " ": 1, "\u00a0": 2, "\u2028!": 3 }), Result.succeed({ " ": 1, "\u2028!": 3 }))
  })

  it("match when an object is encoded too", () => {
    const { encode } = Codec.make(Schema.Struct({ a: blank }))
    assert.isTrue(Result.isSuccess(encode({ a: " " }, {})))
    assert.isTrue(Result.isFailure(encode({ a: "\u00a0" }, {})))
  })

  it("keep the message of the check", () => {
    const flaw = Result.getOrThrow(Result.flip(Codec.make(Schema.Struct({ a: blank })).decode({ a: "x" })))
    assert.deepStrictEqual(flaw, { path: "a", expected: "Expected a string matching the RegExp ^(?:\\s|.!)$" })
  })

  it("that RE2 cannot read run in JavaScript's engine", () => {
    const { decode } = Codec.make(Schema.String.check(Schema.isPattern(/^(?=a)\w+$/)))
    assert.isTrue(Result.isSuccess(decode("ab")))
    assert.isTrue(Result.isFailure(decode("ba")))
  })
})

describe("an expression that would block a backtracking engine for days", () => {
  const text = `${"a".repeat(40)}!`

  it("is matched at once by a definition", () => assert.isFalse(compile("^(a+)+$").test(text)))

  it("is matched at once by a Schema", () =>
    assert.isTrue(Result.isFailure(Codec.make(Schema.String.check(Schema.isPattern(/^(a+)+$/))).decode(text))))
})
