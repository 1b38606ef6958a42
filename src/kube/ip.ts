/**
 * IP addresses as text: which texts the API accepts (no leading zeros in IPv4, no zones, no brackets), and the canonical text of an address,
 * for controllers that read what older servers accepted. Pure and total. Source: apimachinery validation of addresses, net.IP.String, RFC 5952.
 */
const octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`)

export const isIPv4 = (text: string): boolean => ipv4.test(text)

export const isIP = (text: string): boolean => isIPv4(text) || (text.includes(":") && groupsOf(text) !== undefined)

/** The address as Go prints it; undefined for a text that is none. Leading zeros are ignored, and an IPv4-mapped IPv6 address becomes IPv4. */
export const canonical = (text: string): string | undefined => {
  if (!text.includes(":")) return octetsOf(text)?.join(".")
  const groups = groupsOf(text)
  if (groups === undefined) return undefined
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join(".") : print(groups)
}

const octetsOf = (text: string): ReadonlyArray<number> | undefined => {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined
  const octets = text.split(".").map(Number)
  return octets.every((value) => value <= 255) ? octets : undefined
}

/** The eight groups of an IPv6 address. */
const groupsOf = (text: string): ReadonlyArray<number> | undefined => {
  const halves = text.split("::")
  if (halves.length > 2) return undefined
  const [head = [], tail] = halves.map((half, i) => (half === "" ? [] : partsOf(half, i === halves.length - 1)))
  const known = head.length + (tail?.length ?? 0)
  // `::` stands for at least one group of zeros.
  if (tail === undefined ? known !== 8 : known > 7) return undefined
  const groups = [...head, ...Array.from({ length: 8 - known }, () => 0), ...(tail ?? [])]
  return groups.some(Number.isNaN) ? undefined : groups
}

/** NaN for a part that is no group. The last two groups may be written as IPv4. */
const partsOf = (half: string, isLast: boolean): ReadonlyArray<number> => {
  const parts = half.split(":")
  return parts.flatMap((part, i) => {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) return [Number.parseInt(part, 16)]
    const octets = isLast && i === parts.length - 1 && isIPv4(part) ? octetsOf(part) : undefined
    const [a = NaN, b = 0, c = 0, d = 0] = octets ?? []
    return octets === undefined ? [NaN] : [a * 256 + b, c * 256 + d]
  })
}

/** Leaves out the first of the longest runs of zeros, if it is longer than one group. */
const print = (groups: ReadonlyArray<number>): string => {
  let [from, length] = [0, 1]
  for (let start = 0; start < groups.length; start++) {
    let end = start
    while (groups[end] === 0) end++
    if (end - start > length) [from, length] = [start, end - start]
  }
  const text = (some: ReadonlyArray<number>) => some.map((group) => group.toString(16)).join(":")
  return length === 1 ? text(groups) : `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`
}
