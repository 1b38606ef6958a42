/**
 * The lines of a simulated log, as a function of the time: nothing is stored. A source writes one line, or one line again and again, so
 * that the lines of any part of a log are computed from its times, however old the container is.
 */

/** Writes a line at `first`, and then every `every` milliseconds; once if that is 0. */
export interface Source {
  /** Milliseconds since 1970. */
  readonly first: number
  readonly every: number
  /** The line with that index, counted from 0, at its time. */
  readonly text: (index: number, time: number) => string
}

export interface Line {
  readonly time: number
  readonly text: () => string
}

interface Place {
  readonly source: Source
  readonly index: number
}

const timeOf = ({ index, source }: Place): number => source.first + index * source.every

const lineOf = (place: Place): Line => {
  const time = timeOf(place)
  const { index, source } = place
  return { time, text: () => source.text(index, time) }
}

/** How many lines of a source there are up to a time, inclusive. */
const countUntil = ({ every, first }: Source, time: number): number => {
  if (time < first) return 0
  return every <= 0 ? 1 : Math.floor((time - first) / every) + 1
}

/** The last lines up to a time, in their order; at most `most`. */
export const last = (sources: ReadonlyArray<Source>, until: number, most: number): Array<Line> => {
  const left = sources.map((source) => ({ source, index: countUntil(source, until) - 1 }))
  const found: Array<Place> = []
  while (found.length < most) {
    let latest: { source: Source; index: number } | undefined
    // Of lines with the same time, the source that is listed last is the later one.
    for (const place of left)
      if (place.index >= 0 && (latest === undefined || timeOf(place) >= timeOf(latest))) latest = place
    if (latest === undefined) break
    found.push({ ...latest })
    latest.index--
  }
  return found.toReversed().map(lineOf)
}

/**
 * The first lines after a time and up to another, in their order; at most `most`, which must exceed the number of sources. All lines of one
 * time are returned together, so that the next part can start after that time.
 */
export const between = (
  sources: ReadonlyArray<Source>,
  after: number,
  until: number,
  most: number
): ReadonlyArray<Line> => {
  const left = sources.map((source) => ({ source, index: countUntil(source, after), end: countUntil(source, until) }))
  const found: Array<Line> = []
  while (found.length < most) {
    let earliest: (typeof left)[number] | undefined
    for (const place of left)
      if (place.index < place.end && (earliest === undefined || timeOf(place) < timeOf(earliest))) earliest = place
    if (earliest === undefined) break
    found.push(lineOf(earliest))
    earliest.index++
  }
  const final = found.at(-1)?.time
  return found.length < most ? found : found.filter(({ time }) => time !== final)
}

/** The time of the first line after a time; undefined if there is none. */
export const nextTime = (sources: ReadonlyArray<Source>, after: number): number | undefined => {
  let next: number | undefined
  for (const source of sources) {
    const index = countUntil(source, after)
    if (source.every <= 0 && index > 0) continue
    const time = timeOf({ source, index })
    if (next === undefined || time < next) next = time
  }
  return next
}
