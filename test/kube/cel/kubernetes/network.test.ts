/** Addresses and networks. The expected values are those of Go's net/netip and of the server's library. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "../library/evaluated.ts"

const unread = (address: string, problem: string) =>
  `failed: IP Address "${address}" parse error during conversion from string: ParseAddr("${address}"): ${problem}`

const noNetwork = (written: string, problem: string) =>
  `failed: network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("${written}"): ${problem}`

describe("an IP address", () => {
  it("is read as Go reads it", () => {
    assert.deepStrictEqual(
      wrong([
        ["string(ip('10.0.0.7'))", '"10.0.0.7"'],
        ["string(ip('2001:DB8:0:0:0:0:0:1'))", '"2001:db8::1"'],
        ["string(ip('::1.2.3.4'))", '"::102:304"'],
        ["string(ip('1:0:0:2:0:0:0:3'))", '"1:0:0:2::3"'],
        ["string(ip('1:2:3:4:5:6:0:8'))", '"1:2:3:4:5:6:0:8"'],
        ["string(ip('1::2:3:4:5:6:7'))", '"1:0:2:3:4:5:6:7"'],
        ["type(ip('::1')) == net.IP", "true"],
        ["ip('::1') == ip('0:0::1')", "true"],
        ["ip('1.2.3.4') == ip('::1.2.3.4')", "false"],
        ["ip('1.2.3.4').family()", "4"],
        ["ip('::').family()", "6"],
        ["isIP('1.2.3.4')", "true"],
        ["isIP('01.2.3.4')", "false"],
        ["isIP('1.2.3')", "false"],
        ["isIP('::ffff:1.2.3.4')", "false"],
        ["isIP('::ffff:102:304')", "false"],
        ["isIP('fe80::1%eth0')", "false"],
        ["isIP('1::2::3')", "false"],
        ["isIP('')", "false"],
        ["isIP(' 1.2.3.4')", "false"],
        ["ip.isCanonical('2001:db8::68')", "true"],
        ["ip.isCanonical('2001:DB8::68')", "false"],
        ["ip.isCanonical('2001:db8:0::68')", "false"],
        ["isIP(cidr('10.0.0.0/8'))", "refused: found no matching overload for 'isIP' applied to '(net.CIDR)'"]
      ]),
      []
    )
  })

  it("that is malformed fails with what Go says of it", () => {
    assert.deepStrictEqual(
      wrong([
        ["ip('1.2.3.4.5')", unread("1.2.3.4.5", "IPv4 address too long")],
        ["ip('1.2.3')", unread("1.2.3", "IPv4 address too short")],
        ["ip('1.2.3.256')", unread("1.2.3.256", "IPv4 field has value >255")],
        ["ip('1.2.3.04')", unread("1.2.3.04", "IPv4 field has octet with leading zero")],
        ["ip('1.2.a.4')", unread("1.2.a.4", 'unexpected character (at "a.4")')],
        ["ip('localhost')", unread("localhost", "unable to parse IP")],
        ["ip('')", unread("", "unable to parse IP")],
        ["ip('1:2:::3')", unread("1:2:::3", 'each colon-separated field must have at least one digit (at ":3")')],
        ["ip('12345::')", unread("12345::", 'each group must have 4 or less digits (at "12345::")')],
        ["ip('1::2::3')", unread("1::2::3", 'multiple :: in address (at ":3")')],
        ["ip('1:2:')", unread("1:2:", 'colon must be followed by more characters (at ":")')],
        ["ip('1:2')", unread("1:2", "address string too short")],
        ["ip('fe80::1%eth0')", 'failed: IP address "fe80::1%eth0" with zone value is not allowed'],
        ["ip('::ffff:1.2.3.4')", 'failed: IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
        ["ip('::ffff:a:b')", 'failed: IPv4-mapped IPv6 address "::ffff:a:b" is not allowed']
      ]),
      []
    )
  })

  it("is of the ranges of its standards", () => {
    assert.deepStrictEqual(
      wrong([
        ["ip('0.0.0.0').isUnspecified()", "true"],
        ["ip('::').isUnspecified()", "true"],
        ["ip('::1').isUnspecified()", "false"],
        ["ip('127.255.0.1').isLoopback()", "true"],
        ["ip('::1').isLoopback()", "true"],
        ["ip('128.0.0.1').isLoopback()", "false"],
        ["ip('224.0.0.255').isLinkLocalMulticast()", "true"],
        ["ip('224.0.1.1').isLinkLocalMulticast()", "false"],
        ["ip('ff02::1').isLinkLocalMulticast()", "true"],
        ["ip('ff12::1').isLinkLocalMulticast()", "true"],
        ["ip('fd00::1').isLinkLocalMulticast()", "false"],
        ["ip('169.254.0.1').isLinkLocalUnicast()", "true"],
        ["ip('169.253.0.1').isLinkLocalUnicast()", "false"],
        ["ip('febf::1').isLinkLocalUnicast()", "true"],
        ["ip('fec0::1').isLinkLocalUnicast()", "false"],
        ["ip('10.0.0.1').isGlobalUnicast()", "true"],
        ["ip('255.255.255.255').isGlobalUnicast()", "false"],
        ["ip('239.0.0.1').isGlobalUnicast()", "false"],
        ["ip('ff00::1').isGlobalUnicast()", "false"],
        ["ip('2001:db8::1').isGlobalUnicast()", "true"]
      ]),
      []
    )
  })
})

describe("a network", () => {
  it("has an address, a length of its prefix, and contains addresses and networks", () => {
    assert.deepStrictEqual(
      wrong([
        ["string(cidr('10.1.2.3/8'))", '"10.1.2.3/8"'],
        ["string(cidr('10.1.2.3/8').masked())", '"10.0.0.0/8"'],
        ["string(cidr('2001:db8:1::/32').masked())", '"2001:db8::/32"'],
        ["string(cidr('10.1.2.3/8').ip())", '"10.1.2.3"'],
        ["cidr('2001:db8::/33').prefixLength()", "33"],
        ["type(cidr('::/0')) == net.CIDR", "true"],
        ["cidr('10.0.0.0/8') == cidr('10.0.0.1/8')", "false"],
        ["cidr('10.0.0.0/8').containsIP('10.255.0.1')", "true"],
        ["cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", "false"],
        ["cidr('0.0.0.0/0').containsIP('::1')", "false"],
        ["cidr('10.0.0.0/8').containsIP('nowhere')", "failed: no such overload"],
        ["cidr('10.0.0.0/8').containsCIDR('10.0.0.0/9')", "true"],
        ["cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/7'))", "false"],
        ["cidr('10.0.0.0/8').containsCIDR('10.1.2.3/32')", "true"],
        ["cidr('2001:db8::/32').containsCIDR('2001:db9::/48')", "false"],
        ["cidr('::/0').containsCIDR('10.0.0.0/8')", "false"]
      ]),
      []
    )
  })

  it("that is malformed fails with what Go says of it", () => {
    assert.deepStrictEqual(
      wrong([
        ["cidr('10.0.0.0')", noNetwork("10.0.0.0", "no '/'")],
        ["cidr('10.0.0.0/')", noNetwork("10.0.0.0/", 'bad bits after slash: ""')],
        ["cidr('10.0.0.0/08')", noNetwork("10.0.0.0/08", 'bad bits after slash: "08"')],
        ["cidr('10.0.0.0/33')", noNetwork("10.0.0.0/33", "prefix length out of range")],
        ["cidr('10.0.0/8')", noNetwork("10.0.0/8", 'ParseAddr("10.0.0"): IPv4 address too short')],
        ["cidr('fe80::1%a/64')", noNetwork("fe80::1%a/64", "IPv6 zones cannot be present in a prefix")],
        [
          "cidr('::ffff:10.0.0.0/104')",
          'failed: network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:10.0.0.0/104" is not allowed'
        ],
        ["isCIDR('::ffff:10.0.0.0/104')", "false"],
        ["isCIDR('10.0.0.0/8')", "true"],
        ["isCIDR('10.0.0.0/-1')", "false"]
      ]),
      []
    )
  })
})
