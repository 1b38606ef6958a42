/**
 * The offset of a time zone from UTC, and when it changes, from the tables of the JavaScript engine. The changes of a year are searched once
 * and kept, because a schedule asks for them again and again. Times are milliseconds since 1970.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

export interface Zone {
  /** The name that the caller gave. */
  readonly id: string
  /** Milliseconds to add to an instant to get the local time. */
  readonly offsetAt: (instant: number) => number
  /** The start of the offset at that instant; at the earliest the start of the year before. */
  readonly since: (instant: number) => number
  /** The first later instant with another offset; at the latest the end of the year after. */
  readonly until: (instant: number) => number
}

/** A zone without clock changes. */
export const utc: Zone = { id: "UTC", offsetAt: () => 0, since: () => -Infinity, until: () => Infinity }

/** The zone of that name in the tz database; the empty name is UTC. */
export const named = (id: string): Zone | undefined => {
  if (id === "" || id === "UTC") return utc
  const known = zones.get(id)
  if (known !== undefined) return known
  const found = isName(id) ? Option.getOrUndefined(DateTime.zoneMakeNamed(id)) : undefined
  // On most machines names are case-sensitive for Go, but they are not for the engine.
  if (found === undefined || (found.id !== id && found.id.toLowerCase() === id.toLowerCase())) return undefined
  const zone = zoneOf(id, found)
  zones.set(id, zone)
  return zone
}

/** The zone of the machine that this process runs on. */
export const local = (): Zone => {
  const { id } = DateTime.zoneMakeLocal()
  return named(id) ?? utc
}

/** Zones by name. There are some six hundred names, so the map needs no limit. */
const zones = new Map<string, Zone>()

/** Each part of a path. Source: kube-apiserver validateTimeZone. */
const nameComponent = /^[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}$/

/** Short names that the engine knows for compatibility, and the tz database does not. Source: ICU's legacy zone ids. */
const notInTables = new Set(
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" ")
)

const isName = (id: string): boolean =>
  !notInTables.has(id) &&
  !/^[+-]|^SystemV\//.test(id) &&
  id.split("/").every((part) => part !== "." && part !== ".." && nameComponent.test(part))

const day = 86_400_000

interface Change {
  readonly at: number
  readonly offset: number
}

/** How many years are kept for each zone. */
const yearsKept = 32

const zoneOf = (id: string, zone: DateTime.TimeZone.Named): Zone => {
  const offsetOf = (instant: number) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(instant, { timeZone: zone }))
  const years = new Map<number, ReadonlyArray<Change>>()
  /** The offset at the start of the year, and each change in it, in order. */
  const changesOf = (year: number): ReadonlyArray<Change> => {
    const known = years.get(year)
    if (known !== undefined) return known
    const found = changesIn(offsetOf, Date.UTC(year, 0), Date.UTC(year + 1, 0))
    if (years.size >= yearsKept) years.clear()
    years.set(year, found)
    return found
  }
  const lastChange = (instant: number): Change => {
    const changes = changesOf(new Date(instant).getUTCFullYear())
    let latest = changes[0]
    for (const change of changes) if (change.at <= instant) latest = change
    return latest ?? { at: instant, offset: 0 }
  }
  return {
    id,
    offsetAt: (instant) => lastChange(instant).offset,
    since: (instant) => {
      const year = new Date(instant).getUTCFullYear()
      const { at, offset } = lastChange(instant)
      if (at > Date.UTC(year, 0)) return at
      const before = changesOf(year - 1)
      return before.at(-1)?.offset === offset ? (before.at(-1)?.at ?? at) : at
    },
    until: (instant) => {
      const year = new Date(instant).getUTCFullYear()
      const { offset } = lastChange(instant)
      for (const one of [year, year + 1])
        for (const change of changesOf(one)) if (change.at > instant && change.offset !== offset) return change.at
      return Date.UTC(year + 2, 0)
    }
  }
}

/** Compares the offsets of one day and the next: no zone has ever changed its offset and changed it back within a day. */
const changesIn = (offsetOf: (instant: number) => number, from: number, to: number): ReadonlyArray<Change> => {
  const changes: Array<Change> = [{ at: from, offset: offsetOf(from) }]
  for (let before = from; before < to; before += day) {
    const after = Math.min(before + day, to - 1000)
    const offset = offsetOf(after)
    if (offset !== changes.at(-1)?.offset) changes.push({ at: firstSecondWith(offsetOf, before, after), offset })
  }
  return changes
}

/** The first second with the later offset, by bisection. */
const firstSecondWith = (offsetOf: (instant: number) => number, before: number, after: number): number => {
  const offset = offsetOf(after)
  let [low, high] = [before, after]
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000
    if (offsetOf(middle) === offset) high = middle
    else low = middle
  }
  return high
}
