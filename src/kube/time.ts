/**
 * Timestamps and durations of the API as text: RFC 3339 in UTC and whole seconds, as meta/v1 Time. Elsewhere times are milliseconds since
 * 1970. Nothing here reads a clock.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** `2026-01-31T12:00:00Z`; a fraction of a second is cut off, as the server does. Total over the years 0 to 9999. */
export const format = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** RFC 3339 with microseconds, `2026-01-01T00:00:00.000000Z`, from microseconds since 1970. Source: meta/v1 MicroTime. */
export const micro = (micros: number): string => {
  const millis = Math.floor(micros / 1000)
  const rest = String(Math.floor(micros - millis * 1000)).padStart(3, "0")
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
}

/** Milliseconds since 1970; undefined for an absent, empty or unreadable text. Fractions and offsets are understood. */
export const parse = (text: string | undefined): number | undefined => {
  if (text === undefined || !rfc3339.test(text)) return undefined
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

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

/** A duration as Go writes it, `1h30m`, in milliseconds, negative too; fails with Go's message. */
export const readGoDuration = (text: string): Result.Result<number, string> => {
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
  // More nanoseconds than a signed 64-bit number holds.
  return millis > 9_223_372_036_854 ? invalid : Result.succeed(text.startsWith("-") ? -millis : millis)
}

/** A duration in Go's form, `1m30s`, `250ms`, `1.5h`, in milliseconds; undefined for an absent, unreadable or signed one. */
export const parseGoDuration = (text: string | undefined): number | undefined =>
  text === undefined || /^[+-]/.test(text) ? undefined : Result.getOrUndefined(readGoDuration(text))

/**
 * A duration as users write it: Go's form (`1m30s`, `250ms`, `1.5h`), which every Kubernetes flag takes, or Effect's (`90 seconds`). A number
 * without a unit is refused, except zero. None if the text is not a duration, or a negative one.
 */
export const parseDuration = (text: string): Option.Option<Duration.Duration> => {
  const trimmed = text.trim()
  const millis = parseGoDuration(trimmed)
  if (millis !== undefined) return Option.some(Duration.millis(millis))
  if (!/^\d+(?:\.\d+)? [a-z]+$/.test(trimmed)) return Option.none()
  return Option.filter(Duration.fromInput(trimmed as Duration.Input), (duration) => !Duration.isNegative(duration))
}
