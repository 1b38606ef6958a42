import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import type { Codec } from "../../../src/layers/setting/codecs.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"

const takes = <A>(
  codec: Codec<A>,
  values: ReadonlyArray<readonly [text: string, value: A]>,
  refused: ReadonlyArray<string>
) => {
  for (const [text, value] of values) {
    it(`takes "${text}"`, () => assert.deepStrictEqual(codec.decode(text), Option.some(value)))
  }
  for (const text of refused) it(`refuses "${text}"`, () => assert.isTrue(Option.isNone(codec.decode(text))))
}

describe("boolean", () => {
  takes(
    Codecs.boolean,
    [
      ...["true", "TRUE", "t", "T", "1", "yes", "on"].map((text) => [text, true] as const),
      ...["false", "False", "f", "0", "no", "off"].map((text) => [text, false] as const)
    ],
    ["", "maybe", "2", " true", "truefalse"]
  )
})

describe("integer", () => {
  takes(
    Codecs.integer({ min: -1, max: 10, expected: "" }),
    [
      ["-1", -1],
      ["0", 0],
      ["010", 10]
    ],
    ["", "11", "-2", "1.5", "1e1", "0x1", "+1", " 1", "9999999999"]
  )
})

describe("rate", () => {
  takes(
    Codecs.rate,
    [
      ["-1", -1],
      ["20", 20],
      ["0.5", 0.5]
    ],
    ["", "0", "0.0", "-2", "-0.5", ".5", "1e3", "Infinity", "NaN"]
  )
})

describe("port", () => {
  takes(
    Codecs.port,
    [
      ["0", 0],
      ["65535", 65_535]
    ],
    ["65536", "-1", "http", ""]
  )
})

describe("concurrency", () => {
  takes(
    Codecs.concurrency,
    [
      ["1", 1],
      ["999999", 999_999]
    ],
    ["0", "1000000", "-1"]
  )
})

describe("list", () => {
  takes(
    Codecs.list(),
    [
      ["", []],
      [" , ", []],
      ["a", ["a"]],
      [" a ,-b,, *", ["a", "-b", "*"]]
    ],
    []
  )
})

describe("choice", () => {
  takes(Codecs.choice(["a", "b"]), [["a", "a"]], ["", "c", "A", "a "])
})

describe("namespaces", () => {
  takes(
    Codecs.namespaces,
    [
      ["", []],
      ["a", ["a"]],
      [" b , a,,b ", ["b", "a"]],
      ["x".repeat(63), ["x".repeat(63)]],
      ["9-a", ["9-a"]]
    ],
    ["A", "a b", "a.b", "-a", "a-", "a,B", "a/b", "*", "x".repeat(64)]
  )

  it("name the invalid one", () => assert.match(Codecs.namespaces.explain?.("a,B_c,d") ?? "", /^"B_c" cannot be/))
})
