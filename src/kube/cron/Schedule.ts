/**
 * Cron schedules: five fields, `@daily` and its like, or `@every 1h30m`. Fields are compared with the local time of the schedule's zone, so
 * a time that a clock change skips does not occur, and one that it repeats occurs twice. Effect's `Cron` computes the calendar, in UTC; this
 * module parses the text and adds the offsets of the zone. Pure; times are milliseconds since 1970. Source: robfig/cron v3.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Time from "../time.ts"
import * as Fields from "./fields.ts"
import * as Zone from "./Zone.ts"

export type Schedule =
  | {
      readonly _tag: "Fields"
      readonly calendar: Cron.Cron
      readonly zone: Zone.Zone
      readonly canOccur: boolean
      /** The last result, because callers ask for the same time many times. */
      lastFound: Interval | undefined
    }
  /** Whole seconds, at least one; in milliseconds. */
  | { readonly _tag: "Every"; readonly millis: number }

/** An interval without a time of the schedule inside; `to` is such a time, and `from` is one if `isTime`. */
interface Interval {
  readonly from: number
  readonly to: number
  readonly isTime: boolean
}

/** A schedule, or a sentence that says what is wrong with the text. A zone in the text, `TZ=Asia/Tokyo`, takes precedence over `zone`. */
export const parse = (text: string, zone: Zone.Zone): Result.Result<Schedule, string> => {
  if (text === "") return Result.fail("empty spec string")
  const inline = /^(?:CRON_)?TZ=([^ ]*)( .*)?$/s.exec(text)
  if (inline === null) return parsePlain(text, zone)
  const [, id = "", rest = ""] = inline
  const own = Zone.named(id)
  return own === undefined
    ? Result.fail(`provided bad location ${id}: unknown time zone ${id}`)
    : parsePlain(rest.trim(), own)
}

/** The fields that a named schedule stands for. */
const named: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"]
])

const everyPrefix = "@every "

const parsePlain = (text: string, zone: Zone.Zone): Result.Result<Schedule, string> => {
  if (!text.startsWith("@")) return parseFields(text, zone)
  const namedFields = named.get(text)
  if (namedFields !== undefined) return parseFields(namedFields, zone)
  if (!text.startsWith(everyPrefix)) return Result.fail(`unrecognized descriptor: ${text}`)
  return Result.mapBoth(Time.readGoDuration(text.slice(everyPrefix.length)), {
    onSuccess: (millis): Schedule => ({ _tag: "Every", millis: Math.max(1000, Math.floor(millis / 1000) * 1000) }),
    onFailure: (why) => `failed to parse duration ${text}: ${why}`
  })
}

const parseFields = (text: string, zone: Zone.Zone): Result.Result<Schedule, string> =>
  Result.gen(function* () {
    const parts = text.split(/\s+/).filter((part) => part !== "")
    const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts
    if (parts.length !== 5) {
      return yield* Result.fail(`expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`)
    }
    const minutes = yield* Fields.parse(minute, Fields.minutes)
    const hours = yield* Fields.parse(hour, Fields.hours)
    const days = yield* Fields.parse(day, Fields.days)
    const months = yield* Fields.parse(month, Fields.months)
    const weekdays = yield* Fields.parse(weekday, Fields.weekdays)
    const and = days.isStar || weekdays.isStar
    const calendar = Cron.make({
      minutes: minutes.values,
      hours: hours.values,
      days: days.values,
      months: months.values,
      weekdays: weekdays.values,
      and,
      tz: DateTime.zoneMakeNamedUnsafe("UTC")
    })
    // An empty list means every value to `Cron`, and no value here.
    const canOccur =
      [minutes, hours, months].every(({ values }) => values.length > 0) &&
      (and || weekdays.values.length === 0 ? exists(days.values, months.values) : true) &&
      (and ? weekdays.values.length > 0 : true)
    return { _tag: "Fields", calendar, zone, canOccur, lastFound: undefined } as const
  })

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether any of the months has any of the days. */
const exists = (days: ReadonlyArray<number>, months: ReadonlyArray<number>): boolean =>
  months.some((month) => days.some((day) => day <= (daysOfMonths[month - 1] ?? 0)))

/** How many years are searched; a schedule without a time in them has none. Source: robfig/cron SpecSchedule.Next. */
const yearsSearched = 5

/** The first time after that one; undefined if there is none within five years. */
export const next = (schedule: Schedule, after: number): number | undefined => {
  if (schedule._tag === "Every") return Math.floor((after + schedule.millis) / 1000) * 1000
  if (!schedule.canOccur) return undefined
  const { lastFound } = schedule
  if (lastFound !== undefined && lastFound.from <= after && after < lastFound.to) return lastFound.to
  const found = searchNext(schedule, after)
  if (found !== undefined) schedule.lastFound = { from: after, to: found, isTime: lastFound?.to === after }
  return found
}

/** The last time that is after `from` and not after `to`; undefined if there is none. Intervals are counted from `from`. */
export const latest = (schedule: Schedule, from: number, to: number): number | undefined => {
  if (schedule._tag === "Every") {
    const first = next(schedule, from) ?? Infinity
    return first > to ? undefined : first + Math.floor((to - first) / schedule.millis) * schedule.millis
  }
  if (!schedule.canOccur) return undefined
  const { lastFound } = schedule
  if (lastFound !== undefined && lastFound.from <= to && to < lastFound.to) {
    if (lastFound.isTime) return lastFound.from > from ? lastFound.from : undefined
    if (lastFound.from <= from) return undefined
  }
  const found = searchLatest(schedule, from, to)
  const after = found === undefined ? undefined : next(schedule, to)
  if (found !== undefined && after !== undefined) schedule.lastFound = { from: found, to: after, isTime: true }
  return found
}

type FieldSchedule = Extract<Schedule, { readonly _tag: "Fields" }>

const searchNext = ({ calendar, zone }: FieldSchedule, after: number): number | undefined => {
  const limit = Date.UTC(new Date(after).getUTCFullYear() + yearsSearched + 1, 0)
  // The offset is the same from `from` to `until`.
  for (let from = after + 1; from < limit;) {
    const offset = zone.offsetAt(from)
    const until = zone.until(from)
    const candidate = Cron.next(calendar, from + offset - 1).getTime() - offset
    if (candidate < until) return candidate < limit ? candidate : undefined
    from = until
  }
  return undefined
}

const searchLatest = ({ calendar, zone }: FieldSchedule, from: number, to: number): number | undefined => {
  for (let until = to; until > from;) {
    const offset = zone.offsetAt(until)
    const since = zone.since(until)
    const candidate = Cron.prev(calendar, until + offset + 1).getTime() - offset
    if (candidate >= since) return candidate > from ? candidate : undefined
    until = since - 1
  }
  return undefined
}
