/**
 * Numbers that may be given as a share: `maxSurge: 3` or `"25%"`. Source: apimachinery util/intstr.
 */

/** A count, or a text such as `25%`. */
export type IntOrPercent = number | string

/** The number; a percentage is of `total`, rounded to a whole number. Undefined for a text that is no percentage. */
export const resolve = (value: IntOrPercent, total: number, round: "up" | "down"): number | undefined => {
  if (typeof value === "number") return value
  const match = /^([+-]?\d+)%$/.exec(value)
  if (match === null) return undefined
  const share = (Number(match[1]) * total) / 100
  return round === "up" ? Math.ceil(share) : Math.floor(share)
}
