/**
 * When something is to happen: five fields, `@daily` and its like, or `@every 1h30m`. A time is in a schedule of fields when the clocks of its zone show
 * it: what they skip is not, what they show twice is in it twice. Calendars are Effect's `Cron`; what is here is the text, and the clocks that
 * people change. Pure; times are milliseconds since 1970. Source: robfig/cron v3.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Fields from "./fields.ts"
import * as Zone from "./Zone.ts"

export type Schedule =
  | {
      readonly _tag: "Fields"
      readonly calendar: Cron.Cron
      readonly zone: Zone.Zone
      readonly isEver: boolean
      /** What was found last: whoever asks for a time asks for the same one many times. */
      gap: Gap | undefined
    }
  /** Whole seconds, at least one; in milliseconds. */
  | { readonly _tag: "Every"; readonly millis: number }

/** No time of the schedule lies between the two; `to` is one, and `from` may be one. */
interface Gap {
  readonly from: number
  readonly to: number
  readonly isTime: boolean
}

/** A schedule, or in words what is wrong with it. `zone`: unless the text itself begins with one, `TZ=Asia/Tokyo`. */
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

/** What the named ones stand for. */
const named: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"]
])

const every = "@every "

const parsePlain = (text: string, zone: Zone.Zone): Result.Result<Schedule, string> => {
  if (!text.startsWith("@")) return parseFields(text, zone)
  const meant = named.get(text)
  if (meant !== undefined) return parseFields(meant, zone)
  if (!text.startsWith(every)) return Result.fail(`unrecognized descriptor: ${text}`)
  return Result.mapBoth(parseDuration(text.slice(every.length)), {
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
    // No values mean every value to a calendar, and none to us.
    const isEver =
      [minutes, hours, months].every(({ values }) => values.length > 0) &&
      (and || weekdays.values.length === 0 ? exists(days.values, months.values) : true) &&
      (and ? weekdays.values.length > 0 : true)
    return { _tag: "Fields", calendar, zone, isEver, gap: undefined } as const
  })

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether any of the months has any of the days. */
const exists = (days: ReadonlyArray<number>, months: ReadonlyArray<number>): boolean =>
  months.some((month) => days.some((day) => day <= (daysOfMonths[month - 1] ?? 0)))

/** A schedule that names no time within so many years has none. Source: robfig/cron SpecSchedule.Next. */
const farthest = 5

/** The first time after that one; undefined if there is none within five years. */
export const next = (schedule: Schedule, after: number): number | undefined => {
  if (schedule._tag === "Every") return Math.floor((after + schedule.millis) / 1000) * 1000
  if (!schedule.isEver) return undefined
  const { gap } = schedule
  if (gap !== undefined && gap.from <= after && after < gap.to) return gap.to
  const found = searchNext(schedule, after)
  if (found !== undefined) schedule.gap = { from: after, to: found, isTime: gap?.to === after }
  return found
}

/** The last time that is after `from` and not after `to`; undefined if there is none. Intervals are counted from `from`. */
export const latest = (schedule: Schedule, from: number, to: number): number | undefined => {
  if (schedule._tag === "Every") {
    const first = next(schedule, from) ?? Infinity
    return first > to ? undefined : first + Math.floor((to - first) / schedule.millis) * schedule.millis
  }
  if (!schedule.isEver) return undefined
  const { gap } = schedule
  if (gap !== undefined && gap.from <= to && to < gap.to) {
    if (gap.isTime) return gap.from > from ? gap.from : undefined
    if (gap.from <= from) return undefined
  }
  const found = searchLatest(schedule, from, to)
  const after = found === undefined ? undefined : next(schedule, to)
  if (found !== undefined && after !== undefined) schedule.gap = { from: found, to: after, isTime: true }
  return found
}

type OfFields = Extract<Schedule, { readonly _tag: "Fields" }>

const searchNext = ({ calendar, zone }: OfFields, after: number): number | undefined => {
  const limit = Date.UTC(new Date(after).getUTCFullYear() + farthest + 1, 0)
  // From here on the clocks go as they do at `from`; the first time may not come before that.
  for (let from = after + 1; from < limit;) {
    const offset = zone.offsetAt(from)
    const until = zone.until(from)
    const shown = Cron.next(calendar, from + offset - 1).getTime() - offset
    if (shown < until) return shown < limit ? shown : undefined
    from = until
  }
  return undefined
}

const searchLatest = ({ calendar, zone }: OfFields, from: number, to: number): number | undefined => {
  for (let until = to; until > from;) {
    const offset = zone.offsetAt(until)
    const since = zone.since(until)
    const shown = Cron.prev(calendar, until + offset + 1).getTime() - offset
    if (shown >= since) return shown > from ? shown : undefined
    until = since - 1
  }
  return undefined
}

/** Milliseconds in one of each unit. Source: Go time.ParseDuration. */
const units: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["μs", 1e-3],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000]
])

/** A duration as Go writes it, `1h30m`, in milliseconds, maybe negative; with Go's words for what is none. */
const parseDuration = (text: string): Result.Result<number, string> => {
  const quoted = JSON.stringify(text)
  const invalid = Result.fail(`time: invalid duration ${quoted}`)
  const plain = text.replace(/^[+-]/, "")
  if (plain === "0") return Result.succeed(0)
  if (plain === "") return invalid
  let millis = 0
  let rest = plain
  while (rest !== "") {
    const amount = /^(?:\d+(?:\.\d*)?|\.\d+)/.exec(rest)?.[0]
    if (amount === undefined) return invalid
    rest = rest.slice(amount.length)
    const unit = /^[^\d.]*/.exec(rest)?.[0] ?? ""
    if (unit === "") return Result.fail(`time: missing unit in duration ${quoted}`)
    const size = units.get(unit)
    if (size === undefined) return Result.fail(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`)
    rest = rest.slice(unit.length)
    millis += Number(amount) * size
  }
  // More than a signed count of nanoseconds holds.
  return millis > 9_223_372_036_854 ? invalid : Result.succeed(text.startsWith("-") ? -millis : millis)
}
