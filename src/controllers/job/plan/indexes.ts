/**
 * Sets of completion indexes in the format of the status: ascending intervals, `1,3-5,7`. Their size depends on the number of intervals, not of
 * indexes. Immutable values. Source: pkg/controller/job: orderedIntervals.
 */

/** Both ends included, `first <= last`. */
export type Run = readonly [first: number, last: number]

/** Ascending, with a gap before each run. */
export type Indexes = ReadonlyArray<Run>

export const empty: Indexes = []

/** Reads a status; what is no number, and what the Job does not have, is left out. Total. */
export const parse = (text: string | undefined, count: number): Indexes => {
  if (text === undefined || text === "") return empty
  const runs: Array<Run> = []
  for (const part of text.split(",")) {
    const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part.trim())
    if (match === null) continue
    const first = Number(match[1])
    const last = Math.min(Number(match[2] ?? match[1]), count - 1)
    if (first <= last) runs.push([first, last])
  }
  return normalise(runs)
}

/** Three and more in a row are `a-b`, two are `a,b`. */
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
  const run = indexes[low]
  return run !== undefined && run[0] <= index
}

export const of = (numbers: Iterable<number>): Indexes => normalise(Array.from(numbers, (one): Run => [one, one]))

export const union = (a: Indexes, b: Indexes): Indexes =>
  b.length === 0 ? a : a.length === 0 ? b : normalise([...a, ...b])

/** How many are in both. */
export const common = (a: Indexes, b: Indexes): number => {
  let sum = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i], b[j]] as [Run, Run]
    sum += Math.max(0, Math.min(x[1], y[1]) - Math.max(x[0], y[0]) + 1)
    if (x[1] < y[1]) i++
    else j++
  }
  return sum
}

/** The first of 0, 1, … below `count` that are not in the set, at most so many. */
export const firstMissing = (indexes: Indexes, count: number, most: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  let next = 0
  for (const [first, last] of [...indexes, [count, count] as const]) {
    for (; next < Math.min(first, count) && found.length < most; next++) found.push(next)
    next = last + 1
  }
  return found
}

const normalise = (runs: Array<Run>): Indexes => {
  runs.sort((a, b) => a[0] - b[0])
  const merged: Array<[number, number]> = []
  for (const [first, last] of runs) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged
}
