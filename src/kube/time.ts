/**
 * Timestamps and durations of the API as text: RFC 3339 in UTC and whole seconds, as meta/v1 Time. Elsewhere times are milliseconds since
 * 1970. Nothing here reads a clock.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** `2026-01-31T12:00:00Z`; a fraction of a second is cut off, as the server does. Total over the years 0 to 9999. */
export const format = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** Milliseconds since 1970; undefined for an absent, empty or unreadable text. Fractions and offsets are understood. */
export const parse = (text: string | undefined): number | undefined => {
  if (text === undefined || !rfc3339.test(text)) return undefined
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/** Milliseconds in one of each unit. Source: Go time.ParseDuration. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000
}

const goDuration = /^(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/
const goDurationPart = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy

/** A duration in Go's form, `1m30s`, `250ms`, `1.5h`, in milliseconds; undefined for an absent, unreadable or negative one. */
export const parseGoDuration = (text: string | undefined): number | undefined => {
  if (text === undefined || !(text === "0" || goDuration.test(text))) return undefined
  let millis = 0
  for (const [, amount = "0", unit = "ms"] of text.matchAll(goDurationPart))
    millis += Number(amount) * (units[unit] ?? 0)
  return millis
}

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
