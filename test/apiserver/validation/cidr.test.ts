/** CIDR: every notation of an address parses to the same number, and containment of ranges. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Cidr from "../../../src/apiserver/validation/kinds/cidr.ts"

const bits = (count: number) =>
  Schema.Array(Schema.Literals([0, 1])).check(Schema.isMinLength(count), Schema.isMaxLength(count))
const length = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))

const Four = Arbitrary.schema(Schema.Struct({ bits: bits(32), outer: length(32), inner: length(32) }))
const Six = Arbitrary.schema(Schema.Struct({ bits: bits(128), outer: length(128), inner: length(128) }))

const groups = (all: ReadonlyArray<number>, size: number): ReadonlyArray<number> =>
  Array.from({ length: all.length / size }, (_, index) =>
    Number.parseInt(all.slice(index * size, (index + 1) * size).join(""), 2)
  )

const plain = (all: ReadonlyArray<number>) =>
  groups(all, 16)
    .map((group) => group.toString(16))
    .join(":")

/** The address with the first longest run of zero groups written as `::`. */
const short = (text: string): string => {
  const run = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)[0]
  if (run === undefined) return text
  const before = text.slice(0, run.index)
  const after = text.slice(run.index + run[0].length).replace(/^:/, "")
  return `${before}::${after}`
}

const number = (all: ReadonlyArray<number>): bigint => BigInt(`0b${all.join("")}`)

describe("CIDR", () => {
  it.prop("parses IPv4 addresses, with or without leading zeros", { one: Four }, ({ one }) => {
    const parts = groups(one.bits, 8)
    for (const text of [parts.join("."), parts.map((part) => String(part).padStart(3, "0")).join(".")]) {
      assert.deepStrictEqual(Cidr.parse(`${text}/${one.outer}`), {
        width: 32,
        address: number(one.bits),
        prefix: one.outer
      })
    }
  })

  it.prop("parses every notation of an IPv6 address", { one: Six }, ({ one }) => {
    const [a = 0, b = 0, c = 0, d = 0] = groups(one.bits.slice(96), 8)
    const mixed = `${plain(one.bits.slice(0, 96))}:${a}.${b}.${c}.${d}`
    for (const text of [plain(one.bits), short(plain(one.bits)), plain(one.bits).toUpperCase(), mixed]) {
      assert.strictEqual(Cidr.parse(`${text}/${one.outer}`)?.address, number(one.bits), text)
    }
  })

  it.prop(
    "one range lies in another exactly when it is longer and begins alike",
    { one: Four, two: Four },
    ({ one, two }) => {
      const range = (all: ReadonlyArray<number>, prefix: number) => ({ width: 32, address: number(all), prefix })
      const inner = range(one.bits, one.inner)
      assert.strictEqual(Cidr.isWithin(inner, range(one.bits, one.outer)), one.inner > one.outer)
      const alike = one.bits.slice(0, two.outer).join() === two.bits.slice(0, two.outer).join()
      assert.strictEqual(Cidr.isWithin(inner, range(two.bits, two.outer)), alike && one.inner > two.outer)
    }
  )

  it("rejects what is not a CIDR", () => {
    const wrong = [
      "",
      "10.0.0.0",
      "10.0.0/8",
      "10.0.0.0/33",
      "10.0.0.256/8",
      "a/8",
      "::1",
      "::1/129",
      "1::2::3/8",
      ":::/8",
      "1:2:3/8",
      "1:2:3:4:5:6:7:8:9/8",
      "12345::/8",
      "1.2.3.4/-1",
      "::1.2.3.400/8"
    ]
    for (const text of wrong) assert.isUndefined(Cidr.parse(text), text)
    assert.deepStrictEqual(Cidr.parse("::/0"), { width: 128, address: 0n, prefix: 0 })
    const v4 = Cidr.parse("0.0.0.0/0")
    const v6 = Cidr.parse("::/8")
    assert.isFalse(v4 !== undefined && v6 !== undefined && Cidr.isWithin(v6, v4))
  })
})
