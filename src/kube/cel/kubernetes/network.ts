/** IP addresses and networks. Source: apiserver pkg/cel/library/{ip,cidr}.go, Go net/netip. */
import * as Ip from "../../ip.ts"
import * as Type from "../Type.ts"
import { Failure, Opaque } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { fn, method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"

/** An address as its octets: 4 or 16. */
type Octets = ReadonlyArray<number>

class Address extends Opaque {
  readonly typeName = "net.IP"
  readonly octets: Octets

  constructor(octets: Octets) {
    super()
    this.octets = octets
  }

  override get costSize(): number {
    return this.octets.length
  }

  equals(other: Opaque): boolean {
    return other instanceof Address && text(this.octets) === text(other.octets)
  }
}

class Network extends Opaque {
  readonly typeName = "net.CIDR"
  readonly octets: Octets
  readonly bits: number

  constructor(octets: Octets, bits: number) {
    super()
    this.octets = octets
    this.bits = bits
  }

  override get costSize(): number {
    return Math.ceil(this.bits / 8)
  }

  equals(other: Opaque): boolean {
    return other instanceof Network && show(this) === show(other)
  }
}

const ipType = Type.opaque("net.IP")
const cidrType = Type.opaque("net.CIDR")
const { bool, int, string } = Type

const text = (octets: Octets): string =>
  octets.length === 4 ? octets.join(".") : (Ip.canonical(grouped(octets)) ?? grouped(octets))

const grouped = (octets: Octets): string =>
  Array.from({ length: 8 }, (_, index) =>
    ((octets[index * 2] ?? 0) * 256 + (octets[index * 2 + 1] ?? 0)).toString(16)
  ).join(":")

const show = ({ bits, octets }: Network): string => `${text(octets)}/${bits}`

/** Go quotes texts so; a long one is cut. */
const quote = (written: string): string => JSON.stringify(written.slice(0, 64))

/** The octets of an address, or what is wrong with its text. Source: Go netip.ParseAddr. */
const parse = (address: string): Octets | string => {
  const first = /[%.:]/.exec(address.slice(0, 64))?.[0]
  if (first === undefined || address.length > 64) return "unable to parse IP"
  return first === "." ? parseV4(address) : parseV6(address)
}

const at = (problem: string, rest: string): string => `${problem} (at ${quote(rest)})`

const parseV4 = (address: string): Octets | string => {
  const unexpected = /[^\d.]/.exec(address)
  const fields = address.split(".")
  let offset = 0
  for (const [index, field] of fields.entries()) {
    const rest = address.slice(offset)
    if (unexpected !== null && unexpected.index <= offset + field.length) {
      return at("unexpected character", address.slice(unexpected.index))
    }
    if (field === "")
      return at("IPv4 field must have at least one digit", offset === 0 ? rest : address.slice(offset - 1))
    if (/^0\d/.test(field)) return "IPv4 field has octet with leading zero"
    if (Number(field) > 255) return "IPv4 field has value >255"
    if (index === 3 && fields.length > 4) return "IPv4 address too long"
    offset += field.length + 1
  }
  return fields.length < 4 ? "IPv4 address too short" : fields.map(Number)
}

const parseV6 = (address: string): Octets | string => {
  if (!Ip.isIP(address)) return problemOfV6(address)
  const [head = "", tail] = address
    .replace(/(?<=:)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/, (mapped) => {
      const [a = 0, b = 0, c = 0, d = 0] = mapped.split(".").map(Number)
      return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
    })
    .split("::")
  const groups = (half: string): ReadonlyArray<string> => (half === "" ? [] : half.split(":"))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}

/** In the order in which Go reads the text of a malformed address. */
const problemOfV6 = (address: string): string => {
  let rest = address
  let groups = 0
  let hasGap = false
  if (rest.startsWith("::")) {
    hasGap = true
    rest = rest.slice(2)
    if (rest === "") return "unable to parse IP"
  }
  while (groups < 8) {
    const field = /^[\dA-Fa-f]*/.exec(rest)?.[0] ?? ""
    if (field.length > 4) return at("each group must have 4 or less digits", rest)
    if (field === "") return at("each colon-separated field must have at least one digit", rest)
    if (rest[field.length] === ".") return problemOfMapped(rest, groups, hasGap)
    groups += 1
    rest = rest.slice(field.length)
    if (rest === "") break
    if (!rest.startsWith(":")) return at("unexpected character, want colon", rest)
    if (rest === ":") return at("colon must be followed by more characters", rest)
    rest = rest.slice(1)
    if (rest.startsWith(":")) {
      if (hasGap) return at("multiple :: in address", rest)
      hasGap = true
      rest = rest.slice(1)
      if (rest === "") break
    }
  }
  if (rest !== "") return at("trailing garbage after address", rest)
  return hasGap ? "the :: must expand to at least one field of zeros" : "address string too short"
}

const problemOfMapped = (rest: string, groups: number, hasGap: boolean): string => {
  if (!hasGap && groups !== 6) return at("embedded IPv4 address must replace the final 2 fields of the address", rest)
  if (groups > 6) return at("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
  const parsed = parseV4(rest)
  return typeof parsed === "string" ? parsed : "the :: must expand to at least one field of zeros"
}

const isMapped = (octets: Octets): boolean =>
  octets.length === 16 && octets.slice(0, 10).every((one) => one === 0) && octets[10] === 255 && octets[11] === 255

const toAddress = (address: string): Address | Failure => {
  const [plain = "", zone] = address.split("%", 2)
  // A zone belongs to an IPv6 address only.
  const octets = parse(zone === undefined || plain.includes(".") ? address : plain)
  const quoted = quote(address)
  const unread = `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted})`
  if (zone !== undefined && !plain.includes(":")) {
    return new Failure(
      `${unread}: ${typeof octets === "string" && plain.includes(".") ? octets : "missing IPv6 address"}`
    )
  }
  if (zone === "") return new Failure(`${unread}: zone must be a non-empty string`)
  if (typeof octets === "string") return new Failure(`${unread}: ${octets}`)
  if (zone !== undefined) return new Failure(`IP address ${quoted} with zone value is not allowed`)
  return isMapped(octets) ? new Failure(`IPv4-mapped IPv6 address ${quoted} is not allowed`) : new Address(octets)
}

/** What is wrong with the text of a network. Source: Go netip.ParsePrefix. */
const toNetwork = (written: string): Failure | Network => {
  const failed = (problem: string) =>
    new Failure(`network address parse error during conversion from string: ${problem}`)
  const unread = (problem: string) =>
    failed(
      `network address parse error during conversion from string: netip.ParsePrefix(${quote(written)}): ${problem}`
    )
  const slash = written.lastIndexOf("/")
  if (slash === -1) return unread("no '/'")
  const address = written.slice(0, slash)
  if (address.includes("%") && address.includes(":")) return unread("IPv6 zones cannot be present in a prefix")
  const octets = parse(address)
  if (typeof octets === "string") return unread(`ParseAddr(${quote(address)}): ${octets}`)
  const bits = written.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return unread(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > octets.length * 8) return unread("prefix length out of range")
  return isMapped(octets)
    ? failed(`IPv4-mapped IPv6 address ${quote(written)} is not allowed`)
    : new Network(octets, Number(bits))
}

const masked = ({ bits, octets }: Network): Network =>
  new Network(
    octets.map((octet, index) => {
      const kept = Math.min(8, Math.max(0, bits - index * 8))
      return octet & (256 - 2 ** (8 - kept))
    }),
    bits
  )

const contains = (network: Network, octets: Octets): boolean =>
  octets.length === network.octets.length && masked(new Network(octets, network.bits)).equals(masked(network))

const containsNetwork = (network: Network, other: Network): boolean =>
  network.bits <= other.bits && contains(network, other.octets)

type Test = (octets: Octets) => boolean

const isLoopback: Test = (octets) =>
  octets.length === 4 ? octets[0] === 127 : octets.slice(0, 15).every((one) => one === 0) && octets[15] === 1
const isUnspecified: Test = (octets) => octets.every((one) => one === 0)
const isMulticast: Test = ([first = 0, ...rest]) => (rest.length === 3 ? first >= 224 && first < 240 : first === 255)
const isLinkLocalUnicast: Test = ([first, second = 0, ...rest]) =>
  rest.length === 2 ? first === 169 && second === 254 : first === 254 && (second & 192) === 128
const isLinkLocalMulticast: Test = ([first, second = 0, third, ...rest]) =>
  rest.length === 1 ? first === 224 && second === 0 && third === 0 : first === 255 && (second & 15) === 2
const isGlobalUnicast: Test = (octets) =>
  !(octets.length === 4 && octets.every((one) => one === 255)) &&
  !isUnspecified(octets) &&
  !isLoopback(octets) &&
  !isMulticast(octets) &&
  !isLinkLocalUnicast(octets)

const test = (name: string, id: string, holds: Test): Definition =>
  method(name, id, [ipType], bool, ({ octets }: Address) => holds(octets))

const withText = <A>(parsed: A | Failure, apply: (value: A) => Outcome, otherwise?: Failure): Outcome =>
  parsed instanceof Failure ? (otherwise ?? parsed) : apply(parsed)

export const network: ReadonlyArray<Definition> = [
  fn("ip", "string_to_ip", [string], ipType, toAddress),
  fn("isIP", "is_ip", [string], bool, (address: string) => !(toAddress(address) instanceof Failure)),
  fn("ip.isCanonical", "ip_is_canonical", [string], bool, (address: string) =>
    withText(toAddress(address), ({ octets }) => text(octets) === address)
  ),
  fn("string", "ip_to_string", [ipType], string, ({ octets }: Address) => text(octets)),
  method("family", "ip_family", [ipType], int, ({ octets }: Address) => (octets.length === 4 ? 4n : 6n)),
  test("isUnspecified", "ip_is_unspecified", isUnspecified),
  test("isLoopback", "ip_is_loopback", isLoopback),
  test("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
  test("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
  test("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
  fn("cidr", "string_to_cidr", [string], cidrType, toNetwork),
  fn("isCIDR", "is_cidr", [string], bool, (written: string) => !(toNetwork(written) instanceof Failure)),
  fn("string", "cidr_to_string", [cidrType], string, show),
  method("containsIP", "cidr_contains_ip_string", [cidrType, string], bool, (own: Network, address: string) =>
    // The server passes a malformed address on as if it were one.
    withText(toAddress(address), ({ octets }) => contains(own, octets), new Failure("no such overload"))
  ),
  method("containsIP", "cidr_contains_ip_ip", [cidrType, ipType], bool, (own: Network, { octets }: Address) =>
    contains(own, octets)
  ),
  method("containsCIDR", "cidr_contains_cidr_string", [cidrType, string], bool, (own: Network, written: string) =>
    withText(toNetwork(written), (other) => containsNetwork(own, other))
  ),
  method("containsCIDR", "cidr_contains_cidr", [cidrType, cidrType], bool, containsNetwork),
  method("ip", "cidr_ip", [cidrType], ipType, ({ octets }: Network) => new Address(octets)),
  method("prefixLength", "cidr_prefix_length", [cidrType], int, ({ bits }: Network) => BigInt(bits)),
  method("masked", "cidr_masked", [cidrType], cidrType, masked)
]
