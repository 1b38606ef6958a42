/**
 * Sets of completion indexes in the format of the status: ascending intervals, `1,3-5,7`. A set needs memory for each interval, not for each index.
 * Immutable values. Source: pkg/controller/job: orderedIntervals.
 */

/** Both ends are included, and `first <= last`. */
type Interval = readonly [first: number, last: number]

/** Ascending, with at least one missing index between two intervals. */
export type Indexes = ReadonlyArray<Interval>

export const empty: Indexes = []

/** Parses the text of a status. Ignores what is not a number and indexes from `count` on, so it accepts any text. */
export const parse = (text: string | undefined, count: number): Indexes => {
  if (text === undefined || text === "") return empty
  const intervals: Array<Interval> = []
  for (const part of text.split(",")) {
    const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part.trim())
    if (match === null) continue
    const first = Number(match[1])
    const last = Math.min(Number(match[2] ?? match[1]), count - 1)
    if (first <= last) intervals.push([first, last])
  }
  return normalise(intervals)
}

/** Formats three or more consecutive indexes as `a-b`, and two as `a,b`. */
export const format = (indexes: Indexes): string =>
  indexes
    .map(([first, last]) =>
      first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`
    )
    .join(",")

export const size = (indexes: Indexes): number => indexes.reduce((sum, [first, last]) => sum + last - first + 1, 0)

export const has = (indexes: Indexes, index: number): boolean => {
  let low = 0
  let high = indexes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((indexes[middle]?.[1] ?? 0) < index) low = middle + 1
    else high = middle
  }
  const interval = indexes[low]
  return interval !== undefined && interval[0] <= index
}

export const of = (numbers: Iterable<number>): Indexes => normalise(Array.from(numbers, (one): Interval => [one, one]))

export const union = (a: Indexes, b: Indexes): Indexes =>
  b.length === 0 ? a : a.length === 0 ? b : normalise([...a, ...b])

/** The number of indexes in both sets. */
export const common = (a: Indexes, b: Indexes): number => {
  let sum = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i], b[j]] as [Interval, Interval]
    sum += Math.max(0, Math.min(x[1], y[1]) - Math.max(x[0], y[0]) + 1)
    if (x[1] < y[1]) i++
    else j++
  }
  return sum
}

/** The lowest indexes below `count` that are not in the set, at most `limit` of them. */
export const firstMissing = (indexes: Indexes, count: number, limit: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  let next = 0
  for (const [first, last] of [...indexes, [count, count] as const]) {
    for (; next < Math.min(first, count) && found.length < limit; next++) found.push(next)
    next = last + 1
  }
  return found
}

const normalise = (intervals: Array<Interval>): Indexes => {
  intervals.sort((a, b) => a[0] - b[0])
  const merged: Array<[number, number]> = []
  for (const [first, last] of intervals) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged
}
