/**
 * Comparison of resource versions. Since Kubernetes 1.35 they are documented as decimal integers of any length that may
 * be compared for order within one resource; they exceed 2^53 on some servers, so they are never turned into numbers.
 */

/** Negative, zero or positive, as for `Array.sort`. A string that is not a decimal integer sorts before every one that is. */
export const compare = (a: string, b: string): number => {
  if (a === b) return 0
  const x = digits(a)
  const y = digits(b)
  if (x.length !== y.length) return x.length - y.length
  return x < y ? -1 : x > y ? 1 : 0
}

/** Whether the first version is the second or a later one. Both must be of one collection. */
export const isAtLeast = (a: string, b: string): boolean => compare(a, b) >= 0

/** The later of two versions of one collection. */
export const max = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b)

const digits = (version: string): string => (/^\d+$/.test(version) ? version.replace(/^0+(?=\d)/, "") : "")
