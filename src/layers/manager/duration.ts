/**
 * Durations as users write them: Go's form (`1m30s`, `250ms`, `1.5h`), which every Kubernetes flag takes, and Effect's
 * (`90 seconds`). A bare number has no unit and is refused, except zero.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

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

const whole = /^(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g

/** Nothing if the text is not a duration, or a negative one. */
export const parse = (text: string): Option.Option<Duration.Duration> => {
  const trimmed = text.trim()
  if (trimmed === "0") return Option.some(Duration.zero)
  if (whole.test(trimmed)) {
    let millis = 0
    for (const [, amount = "0", unit = "ms"] of trimmed.matchAll(part)) millis += Number(amount) * (units[unit] ?? 0)
    return Option.some(Duration.millis(millis))
  }
  if (!/^\d+(?:\.\d+)? [a-z]+$/.test(trimmed)) return Option.none()
  return Option.filter(Duration.fromInput(trimmed as Duration.Input), (duration) => !Duration.isNegative(duration))
}
