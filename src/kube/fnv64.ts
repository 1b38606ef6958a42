/**
 * FNV-1a with 64 bits: the hash by which API servers select shares of the objects (KEP-5866), so clients can compute the same. A hash is two halves, because
 * numbers of 64 bits are slow and a hash is computed for each object. Source: draft-eastlake-fnv-21 section 2.
 */

/** An unsigned number of 64 bits, or 2^64 as a bound: its upper half is 2^32 then. */
export interface Hash {
  readonly high: number
  readonly low: number
}

/** The hash of a text in UTF-8. */
export const of = (text: string): Hash => ofBytes(/[\u0080-\uffff]/.test(text) ? utf8(text) : text)

/** A text that has one character for each byte. Texts in ASCII, as namespaces and uids are, have that form already. */
const utf8 = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

/** The prime is 2^40 + 0x1b3. The lower half is kept as two numbers of 16 bits, whose products are small integers. */
const ofBytes = (bytes: string): Hash => {
  let high = 0xcbf29ce4 | 0
  let upper = 0x8422
  let lower = 0x2325
  for (let i = 0; i < bytes.length; i++) {
    lower ^= bytes.charCodeAt(i)
    const low = (upper << 16) | lower
    const first = lower * 0x1b3
    const second = upper * 0x1b3 + (first >>> 16)
    high = (Math.imul(high, 0x1b3) + (low << 8) + (second >>> 16)) | 0
    upper = second & 0xffff
    lower = first & 0xffff
  }
  return { high: high >>> 0, low: ((upper << 16) | lower) >>> 0 }
}

export const isBelow = (one: Hash, other: Hash): boolean =>
  one.high === other.high ? one.low < other.low : one.high < other.high

/** Sixteen digits in lower case; 2^64 has seventeen. */
export const hex = ({ high, low }: Hash): string => `${digits(high)}${digits(low)}`

const digits = (half: number): string => half.toString(16).padStart(8, "0")
