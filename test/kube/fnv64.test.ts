/** FNV-1a with 64 bits: the published values, and the definition in whole numbers of any size. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Fnv64 from "../../src/kube/fnv64.ts"

/** The definition. */
const defined = (text: string): bigint => {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash
}

describe("FNV-1a with 64 bits", () => {
  it("has the published values", () => {
    assert.deepStrictEqual(
      ["", "a", "foobar"].map((text) => Fnv64.hex(Fnv64.of(text))),
      ["cbf29ce484222325", "af63dc4c8601ec8c", "85944171f73967e8"]
    )
  })

  it.prop("is as defined, for texts of any letters", { text: Schema.String }, ({ text }) =>
    ["", "\u0080", "ä", "€", "\u{1f600}"].every(
      (more) =>
        Fnv64.hex(Fnv64.of(text + more)) ===
        defined(text + more)
          .toString(16)
          .padStart(16, "0")
    )
  )

  it.prop("is ordered as whole numbers are", { a: Schema.String, b: Schema.String }, ({ a, b }) => {
    const [one, other] = [Fnv64.of(a), Fnv64.of(b)]
    return (
      Fnv64.isBelow(one, other) === defined(a) < defined(b) &&
      !Fnv64.isBelow(one, one) &&
      // The same upper half.
      Fnv64.isBelow(one, { ...one, low: one.low + 1 }) &&
      Fnv64.isBelow(one, { high: 2 ** 32, low: 0 })
    )
  })
})
