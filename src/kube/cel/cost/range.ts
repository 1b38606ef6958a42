/** A least and a greatest number of sizes and costs. What exceeds 64 bits stays at the greatest number of them. */

export interface Range {
  readonly min: number
  readonly max: number
}

const most = 2 ** 64

export const fixed = (value: number): Range => ({ min: value, max: value })

export const unknown: Range = { min: 0, max: most }

const bounded = (value: number): number => Math.min(value, most)

export const add = (one: Range, other: Range): Range => ({
  min: bounded(one.min + other.min),
  max: bounded(one.max + other.max)
})

export const sum = (ranges: ReadonlyArray<Range>): Range => ranges.reduce(add, fixed(0))

export const multiply = (one: Range, other: Range): Range => ({
  min: bounded(one.min * other.min),
  max: bounded(one.max * other.max)
})

/** Rounded up. */
export const scale = ({ max, min }: Range, factor: number): Range => ({
  min: bounded(Math.ceil(min * factor)),
  max: bounded(Math.ceil(max * factor))
})

export const union = (one: Range, other: Range): Range => ({
  min: Math.min(one.min, other.min),
  max: Math.max(one.max, other.max)
})
