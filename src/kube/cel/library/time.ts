/**
 * Timestamps and durations: their texts, exact to the nanosecond, and their parts in a time zone. Nothing here reads a clock.
 * Source: cel-go common/types/{timestamp,duration}.go, Go time.ParseDuration, strfmt.
 */
import * as Zone from "../../cron/Zone.ts"
import * as Type from "../Type.ts"
import { Failure, inInt } from "../Value.ts"
import type { Outcome, Duration, Timestamp } from "../Value.ts"
import { method } from "./define.ts"
import type { Definition } from "./define.ts"

const second = 1_000_000_000n

const daysIn = (year: number, month: number): number => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d)))?$/

const read = (text: string, hasTime: boolean): bigint | undefined => {
  const match = pattern.exec(text)
  if (match === null || (match[4] !== undefined) !== hasTime) return undefined
  const [, years = "", ...parts] = match
  const [month = 0, day = 0, hour = 0, minute = 0, seconds = 0] = parts.slice(0, 5).map((part) => Number(part ?? 0))
  const [fraction = "", sign = "+", zoneHour = "0", zoneMinute = "0"] = parts.slice(5)
  const year = Number(years)
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || seconds > 59 || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, seconds)
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60 * (sign === "-" ? -1 : 1)
  const whole = BigInt(date.getTime() / 1000 - offset)
  return whole * second + BigInt(fraction.slice(0, 9).padEnd(9, "0"))
}

/** Nanoseconds since 1970 of a date and time in RFC 3339. */
export const parseDateTime = (text: string): bigint | undefined => read(text, true)
export const parseDate = (text: string): bigint | undefined => read(text, false)

const units: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["µs", 1000n],
  ["μs", 1000n],
  ["ms", 1_000_000n],
  ["s", second],
  ["m", 60n * second],
  ["h", 3600n * second]
])

/** Nanoseconds of a duration as Go writes it. */
export const parseDuration = (text: string): bigint | undefined => {
  const isNegative = text.startsWith("-")
  let rest = text.replace(/^[+-]/, "")
  if (rest === "0") return 0n
  if (rest === "" || rest.length > 100) return undefined
  let total = 0n
  while (rest !== "") {
    const match = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest)
    const [found = "", whole = "", fraction = "", unit = ""] = match ?? []
    const size = units.get(unit)
    if (size === undefined || whole + fraction === "") return undefined
    total += BigInt(whole === "" ? 0 : whole) * size
    if (fraction !== "") total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length)
    rest = rest.slice(found.length)
  }
  const nanoseconds = isNegative ? -total : total
  return inInt(nanoseconds) ? nanoseconds : undefined
}

/** The fraction of a second, without zeros at its end: `.25`. */
const fractionOf = (nanoseconds: bigint): string =>
  nanoseconds === 0n
    ? ""
    : `.${String(nanoseconds)
        .padStart(9, "0")
        .replace(/0{1,9}$/, "")}`

export const formatDuration = ({ nanoseconds }: Duration): string => {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds
  return `${nanoseconds < 0n ? "-" : ""}${size / second}${fractionOf(size % second)}s`
}

/** Rounded down, below zero too. */
const floorDivide = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by

export const formatTimestamp = ({ nanoseconds }: Timestamp): string => {
  const whole = floorDivide(nanoseconds, second)
  const text = new Date(Number(whole) * 1000)
    .toISOString()
    .replace(/^[+-]\d\d/, "")
    .slice(0, 19)
  return `${text}${fractionOf(nanoseconds - whole * second)}Z`
}

export const secondsOf = ({ nanoseconds }: Timestamp): bigint => floorDivide(nanoseconds, second)

/** Milliseconds of the local time in a zone; undefined for a zone that is not known. */
const localTime = ({ nanoseconds }: Timestamp, zone: string): number | undefined => {
  const millis = Number(floorDivide(nanoseconds, 1_000_000n))
  const fixed = /^([+-]?)(\d{1,2}):(\d\d)$/.exec(zone)
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return millis + minutes * 60_000 * (fixed[1] === "-" ? -1 : 1)
  }
  const found = Zone.named(zone)
  return found === undefined ? undefined : millis + found.offsetAt(millis)
}

const parts: ReadonlyArray<readonly [string, string, (date: Date) => number]> = [
  ["getFullYear", "year", (date) => date.getUTCFullYear()],
  ["getMonth", "month", (date) => date.getUTCMonth()],
  [
    "getDayOfYear",
    "day_of_year",
    (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0)) / 86_400_000)
  ],
  ["getDayOfMonth", "day_of_month", (date) => date.getUTCDate() - 1],
  ["getDate", "day_of_month_1_based", (date) => date.getUTCDate()],
  ["getDayOfWeek", "day_of_week", (date) => date.getUTCDay()],
  ["getHours", "hours", (date) => date.getUTCHours()],
  ["getMinutes", "minutes", (date) => date.getUTCMinutes()],
  ["getSeconds", "seconds", (date) => date.getUTCSeconds()],
  ["getMilliseconds", "milliseconds", (date) => date.getUTCMilliseconds()]
]

const { duration, int, string, timestamp } = Type

const ofTimestamp = parts.flatMap(([name, id, part]) => {
  const run = (value: Timestamp, zone: string): Outcome => {
    const millis = localTime(value, zone)
    return millis === undefined ? new Failure(`unknown time zone ${zone}`) : BigInt(part(new Date(millis)))
  }
  return [
    method(name, `timestamp_to_${id}`, [timestamp], int, (value: Timestamp) => run(value, "UTC")),
    method(name, `timestamp_to_${id}_with_tz`, [timestamp, string], int, run)
  ]
})

const ofDuration = (
  [
    ["getHours", "hours", 3600n * second],
    ["getMinutes", "minutes", 60n * second],
    ["getSeconds", "seconds", second]
  ] as const
).map(([name, id, unit]) =>
  method(name, `duration_to_${id}`, [duration], int, ({ nanoseconds }: Duration) => nanoseconds / unit)
)

export const time: ReadonlyArray<Definition> = [
  ...ofTimestamp,
  ...ofDuration,
  method(
    "getMilliseconds",
    "duration_to_milliseconds",
    [duration],
    int,
    ({ nanoseconds }: Duration) => (nanoseconds % second) / 1_000_000n
  )
]
