/**
 * What the clocks of a place showed and will show: by how much they are ahead of UTC, and when that changes. The names and the changes are those of
 * the platform's own tables; here they are found once for each year and kept, because a schedule asks for them again and again.
 * Times are milliseconds since 1970.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

export interface Zone {
  /** As it was asked for. */
  readonly id: string
  /** Milliseconds to be added to an instant for what the clocks show. */
  readonly offsetAt: (instant: number) => number
  /** The latest instant, not after that one, at which the offset became what it is; at the earliest the begin of the year before. */
  readonly since: (instant: number) => number
  /** The first instant after that one at which the offset is another; at the latest the end of the year after. */
  readonly until: (instant: number) => number
}

/** Clocks that are never changed. */
export const utc: Zone = { id: "UTC", offsetAt: () => 0, since: () => -Infinity, until: () => Infinity }

/** The zone with that name, as tables of zones have it; an empty one is UTC. */
export const named = (id: string): Zone | undefined => {
  if (id === "" || id === "UTC") return utc
  const known = zones.get(id)
  if (known !== undefined) return known
  const found = isName(id) ? Option.getOrUndefined(DateTime.zoneMakeNamed(id)) : undefined
  // A name in other letters than its own is none on most machines.
  if (found === undefined || (found.id !== id && found.id.toLowerCase() === id.toLowerCase())) return undefined
  const zone = of(id, found)
  zones.set(id, zone)
  return zone
}

/** The zone of the machine that this process runs on. */
export const local = (): Zone => {
  const { id } = DateTime.zoneMakeLocal()
  return named(id) ?? utc
}

/** There are some six hundred names, so this ends by itself. */
const zones = new Map<string, Zone>()

/** Each part of a path. Source: kube-apiserver validateTimeZone. */
const component = /^[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}$/

/** Short names that the platform knows for old programs' sake, and tables of zones do not. Source: ICU's legacy zone ids. */
const notInTables = new Set(
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" ")
)

const isName = (id: string): boolean =>
  !notInTables.has(id) &&
  !/^[+-]|^SystemV\//.test(id) &&
  id.split("/").every((part) => part !== "." && part !== ".." && component.test(part))

const day = 86_400_000

interface Change {
  readonly at: number
  readonly offset: number
}

/** So many years are kept for each zone. */
const yearsKept = 32

const of = (id: string, zone: DateTime.TimeZone.Named): Zone => {
  const ask = (instant: number) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(instant, { timeZone: zone }))
  const years = new Map<number, ReadonlyArray<Change>>()
  /** The offset at the year's begin, and each change in it, in their order. */
  const changesOf = (year: number): ReadonlyArray<Change> => {
    const known = years.get(year)
    if (known !== undefined) return known
    const found = changesIn(ask, Date.UTC(year, 0), Date.UTC(year + 1, 0))
    if (years.size >= yearsKept) years.clear()
    years.set(year, found)
    return found
  }
  const last = (instant: number): Change => {
    const changes = changesOf(new Date(instant).getUTCFullYear())
    let latest = changes[0]
    for (const change of changes) if (change.at <= instant) latest = change
    return latest ?? { at: instant, offset: 0 }
  }
  return {
    id,
    offsetAt: (instant) => last(instant).offset,
    since: (instant) => {
      const year = new Date(instant).getUTCFullYear()
      const { at, offset } = last(instant)
      if (at > Date.UTC(year, 0)) return at
      const before = changesOf(year - 1)
      return before.at(-1)?.offset === offset ? (before.at(-1)?.at ?? at) : at
    },
    until: (instant) => {
      const year = new Date(instant).getUTCFullYear()
      const { offset } = last(instant)
      for (const one of [year, year + 1])
        for (const change of changesOf(one)) if (change.at > instant && change.offset !== offset) return change.at
      return Date.UTC(year + 2, 0)
    }
  }
}

/** No place has ever changed its clocks and changed them back within a day. */
const changesIn = (ask: (instant: number) => number, from: number, to: number): ReadonlyArray<Change> => {
  const changes: Array<Change> = [{ at: from, offset: ask(from) }]
  for (let before = from; before < to; before += day) {
    const after = Math.min(before + day, to - 1000)
    const offset = ask(after)
    if (offset !== changes.at(-1)?.offset) changes.push({ at: firstWith(ask, before, after), offset })
  }
  return changes
}

/** The first second of those with the later offset. */
const firstWith = (ask: (instant: number) => number, before: number, after: number): number => {
  const offset = ask(after)
  let [low, high] = [before, after]
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000
    if (ask(middle) === offset) high = middle
    else low = middle
  }
  return high
}
