/** Durations as Go writes them, `1h30m`, with Go's words for what is none. Those of flags, which have more forms, are read elsewhere. */
import * as Result from "effect/Result"

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

/** Milliseconds, maybe negative. */
export const parse = (text: string): Result.Result<number, string> => {
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
