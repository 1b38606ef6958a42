/**
 * CIDR ranges, `10.0.0.0/8` or `2001:db8::/32`, as numbers. Leading zeros in a part of an IPv4 address are ignored, as
 * kube-apiserver does for fields that existed before strict parsing (k8s.io/utils/net: ParseCIDRSloppy).
 */

export interface Range {
  /** Bits of an address: 32 or 128. */
  readonly width: number
  /** The whole address, including the bits of the host. */
  readonly address: bigint
  /** Length of the network prefix in bits. */
  readonly prefix: number
}

const parts4 = (text: string): ReadonlyArray<number> | undefined => {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined
  const parts = text.split(".").map(Number)
  return parts.every((part) => part <= 255) ? parts : undefined
}

const joined = (parts: ReadonlyArray<number>, bits: bigint): bigint =>
  parts.reduce<bigint>((sum, part) => (sum << bits) | BigInt(part), 0n)

const address6 = (text: string): bigint | undefined => {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const four = tail === null ? undefined : parts4(tail[2] ?? "")
  if (tail !== null && four === undefined) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = four ?? []
  const plain =
    four === undefined ? text : `${tail?.[1] ?? ""}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  const halves = plain.split("::")
  if (halves.length > 2) return undefined
  const [left = [], right = []] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const missing = 8 - left.length - right.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right]
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  return joined(
    groups.map((group) => Number.parseInt(group, 16)),
    16n
  )
}

/** Undefined when the text is not a CIDR range. */
export const parse = (text: string): Range | undefined => {
  const [, base = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? []
  const four = parts4(base)
  const address = four === undefined ? address6(base) : joined(four, 8n)
  const width = four === undefined ? 128 : 32
  const prefix = Number(length)
  return address === undefined || base === "" || prefix > width ? undefined : { width, address, prefix }
}

/** Whether `inner` is in `outer` and has a longer prefix. */
export const isWithin = (inner: Range, outer: Range): boolean => {
  const hosts = BigInt(outer.width - outer.prefix)
  return inner.width === outer.width && inner.address >> hosts === outer.address >> hosts && inner.prefix > outer.prefix
}
