/**
 * A slow model of schedules: it compares the local time of every minute with every part of a field. Unlike the code, it expands no fields and
 * knows no clock changes.
 */
import * as Arbitrary from "effect/Arbitrary"
import { int, oneOf } from "../../support/property.ts"

const names = ["sun mon tue wed thu fri sat", "jan feb mar apr may jun jul aug sep oct nov dec"].join(" ").split(" ")

const numberOf = (text: string): number => {
  const place = names.indexOf(text.toLowerCase())
  return place === -1 ? Number(text) : place < 7 ? place : place - 6
}

/** Whether the field contains the number; `last` is the greatest that it can contain. */
export const has = (field: string, value: number, first: number, last: number): boolean =>
  field.split(",").some((part) => {
    const [range = "", step] = part.split("/")
    const [low = "", high] = range.split("-")
    const isAll = low === "*" || low === "?"
    const from = isAll ? first : numberOf(low)
    const to = isAll || (high === undefined && step !== undefined) ? last : numberOf(high ?? low)
    return value >= from && value <= to && (value - from) % Number(step ?? 1) === 0
  })

const isStar = (field: string): boolean => field.split(",").some((part) => /^[*?](\/1)?$/.test(part))

interface Shown {
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const numeric = { month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", weekday: "short", ...numeric })
  formats.set(zone, format)
  return format
}

/** Local times by minute, because the same minutes are read again and again. */
const seen = new Map<string, Shown>()

const shownIn = (zone: string, instant: number): Shown => {
  const key = `${zone} ${instant}`
  const known = seen.get(key)
  if (known !== undefined) return known
  const parts = new Map<string, string>()
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts.set(type, value)
  const of = (part: keyof Shown) => numberOf(parts.get(part) ?? "")
  const shown = { minute: of("minute"), hour: of("hour"), day: of("day"), month: of("month"), weekday: of("weekday") }
  seen.set(key, shown)
  return shown
}

export interface Reading {
  readonly fields: readonly [minute: string, hour: string, day: string, month: string, weekday: string]
  readonly zone: string
}

/** Whether the schedule has that minute. */
export const isIn = ({ fields: [minute, hour, day, month, weekday], zone }: Reading, instant: number): boolean => {
  const shown = shownIn(zone, instant)
  if (!has(minute, shown.minute, 0, 59) || !has(hour, shown.hour, 0, 23) || !has(month, shown.month, 1, 12))
    return false
  const onDay = has(day, shown.day, 1, 31)
  const onWeekday = has(weekday, shown.weekday, 0, 6) || (shown.weekday === 0 && has(weekday, 7, 0, 6))
  return isStar(day) || isStar(weekday) ? onDay && onWeekday : onDay || onWeekday
}

const step = 60_000

/** The first minute after that one and not after `last`. */
export const next = (reading: Reading, after: number, last: number): number | undefined => {
  for (let at = (Math.floor(after / step) + 1) * step; at <= last; at += step) if (isIn(reading, at)) return at
  return undefined
}

/** The last minute after `from` and not after `to`. */
export const latest = (reading: Reading, from: number, to: number): number | undefined => {
  for (let at = Math.floor(to / step) * step; at > from; at -= step) if (isIn(reading, at)) return at
  return undefined
}

/** Zones with clock changes of many kinds: by an hour, half an hour, two hours, a whole day; at midnight; without any. */
const changes: ReadonlyArray<readonly [zone: string, around: ReadonlyArray<string>]> = [
  ["UTC", ["2024-02-29T00:00:00Z"]],
  ["America/New_York", ["2024-03-10T07:00:00Z", "2024-11-03T06:00:00Z"]],
  ["Europe/Berlin", ["2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z"]],
  ["Australia/Lord_Howe", ["2024-04-06T15:00:00Z", "2024-10-05T15:30:00Z"]],
  ["America/Sao_Paulo", ["2018-02-18T02:00:00Z", "2018-11-04T03:00:00Z"]],
  ["Antarctica/Troll", ["2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z"]],
  ["Africa/Casablanca", ["2024-03-10T02:00:00Z", "2024-04-14T02:00:00Z"]],
  ["Pacific/Apia", ["2011-12-30T10:00:00Z"]],
  ["Asia/Kathmandu", ["2024-01-01T00:00:00Z"]],
  ["Asia/Pyongyang", ["2018-05-04T15:00:00Z"]]
]

/** A schedule, and two times near a clock change. */
export const cases = Arbitrary.map(
  Arbitrary.all({
    minute: oneOf("0", "30", "*", "*/15", "5/20", "0,59", "10-12", "45"),
    hour: oneOf("*", "0", "1", "2", "3", "0-3", "1/2", "*/5", "23,0", "?"),
    day: oneOf("*", "?", "1-7", "*/2", "31", "15,30", "*/1", "10-31/3"),
    month: oneOf("*", "*", "*", "jan-apr", "Oct,11", "3/4"),
    weekday: oneOf("*", "?", "sun", "1-5", "7", "MON-fri/2", "0,3", "*/3"),
    place: int(0, changes.length - 1),
    which: int(0, 1),
    before: int(-1440, 720),
    length: int(0, 1440),
    seconds: oneOf(0, 0, 17, 59)
  }),
  ({ before, day, hour, length, minute: minutes, month, place, seconds, weekday, which }) => {
    const [zone, around] = changes[place] ?? ["UTC", []]
    const from = Date.parse(around[which % around.length] ?? "") + before * step + seconds * 1000
    const fields = [minutes, hour, day, month, weekday] as const
    return { reading: { fields, zone } satisfies Reading, text: fields.join(" "), from, to: from + length * step }
  }
)
