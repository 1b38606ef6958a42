/** Addresses as Go reads and prints them, compared with `node:net` and with the host names of URLs. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Net from "node:net"
import * as Ip from "../../src/kube/ip.ts"
import { meets } from "../../src/kube/structural/formats.ts"
import { checkProperty, int, oneOf } from "../support/property.ts"

const piece = oneOf("0", "0", "1", "ffff", "FfFf", "00a0", "10.1.2.3", "256.1.1.1", "", "", "g", "12345", "%eth0")
const text = Arbitrary.all({
  pieces: Arbitrary.array(piece, { maxLength: 9 }),
  by: oneOf(":", ":", ":", ".")
})
const octets = Arbitrary.all({ octets: Arbitrary.array(int(0, 300), { minLength: 3, maxLength: 5 }), zeros: int(0, 2) })
const groups = Arbitrary.array(oneOf("0", "0", "0", "1", "ab", "ffff"), { minLength: 8, maxLength: 8 })

const gap = Arbitrary.all({ groups: Arbitrary.array(oneOf("1", "0"), { minLength: 6, maxLength: 8 }), at: int(0, 8) })

/** The host name of a URL, which follows RFC 5952 too. */
const printed = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1)

describe("Ip", () => {
  checkProperty("a text is an address exactly if node:net accepts it and it has no zone", text, ({ by, pieces }) => {
    const one = pieces.join(by)
    return Ip.isIP(one) === (Net.isIP(one) !== 0 && !one.includes("%"))
  })

  checkProperty(
    "the formats ipv4, ipv6 and cidr of a schema accept what node:net accepts without a zone",
    text,
    (given) => {
      const one = given.pieces.join(given.by)
      const isIPv6 = Net.isIPv6(one) && !one.includes("%")
      return (
        meets("ipv4", one) === Net.isIPv4(one) &&
        meets("ipv6", one) === isIPv6 &&
        meets("cidr", `${one}/32`) === (Net.isIPv4(one) || isIPv6) &&
        meets("cidr", `${one}/128`) === isIPv6
      )
    }
  )

  checkProperty(":: stands for at least one group", gap, ({ at, groups }) => {
    const one = `${groups.slice(0, at).join(":")}::${groups.slice(at).join(":")}`
    return Ip.isIP(one) === Net.isIPv6(one)
  })

  checkProperty("an IPv4 text is an address exactly if node:net accepts it", octets, ({ octets: some, zeros }) => {
    const one = some.map((value) => `${"0".repeat(zeros)}${value}`).join(".")
    const plain = some.join(".")
    return (
      Ip.isIPv4(one) === Net.isIPv4(one) &&
      Ip.isIP(one) === Net.isIPv4(one) &&
      Ip.canonical(one) === (Net.isIPv4(plain) ? plain : undefined)
    )
  })

  checkProperty("an IPv6 address is printed as in a URL", groups, (parts) => {
    const one = parts.join(":")
    const isMapped = parts.slice(0, 5).every((part) => part === "0") && parts[5] === "ffff"
    return isMapped || Ip.canonical(one) === printed(one)
  })

  checkProperty("a canonical text is an address, and its own canonical text", text, ({ by, pieces }) => {
    const one = Ip.canonical(pieces.join(by))
    return one === undefined || (Ip.isIP(one) && Ip.canonical(one) === one)
  })
})

describe("the canonical text of an address", () => {
  for (const [given, wanted] of [
    ["010.001.0.9", "10.1.0.9"],
    ["FD00:0:0::0a", "fd00::a"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["::ffff:0a01:0203", "10.1.2.3"],
    ["::10.1.2.3", "::a01:203"],
    ["::", "::"],
    ["fe80::1%eth0", undefined],
    ["10.1.2", undefined],
    ["", undefined]
  ] as const) {
    it(`of "${given}" is ${wanted}`, () => assert.strictEqual(Ip.canonical(given), wanted))
  }
})
