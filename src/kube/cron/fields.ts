/**
 * The five fields of a cron expression as sets of numbers: values, names, ranges, steps and lists. Accepts and refuses what kube-apiserver
 * does, in its words; in addition, weekday 7 is Sunday. `Schedule` combines the fields. Source: robfig/cron v3 ParseStandard.
 */
import * as Result from "effect/Result"

export interface Field {
  /** In ascending order; empty only for a list without parts (`,`), which no time matches. */
  readonly values: ReadonlyArray<number>
  /** Whether some part is a star or a question mark with a step of one, so that nothing is excluded. */
  readonly isStar: boolean
}

export interface Bounds {
  readonly min: number
  readonly max: number
  /** The names of the numbers from `min` on, in lower case. */
  readonly names: ReadonlyArray<string>
}

export const minutes: Bounds = { min: 0, max: 59, names: [] }
export const hours: Bounds = { min: 0, max: 23, names: [] }
export const days: Bounds = { min: 1, max: 31, names: [] }
export const months: Bounds = {
  min: 1,
  max: 12,
  names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
}
export const weekdays: Bounds = { min: 0, max: 7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] }

/** The greatest number that a step or a bound may be. Source: Go strconv.Atoi. */
const greatest = 2n ** 63n - 1n

/** A field, or a sentence that says what is wrong with it. */
export const parse = (text: string, bounds: Bounds): Result.Result<Field, string> => {
  const values = new Set<number>()
  let isStar = false
  for (const part of text.split(",")) {
    if (part === "") continue
    const parsed = parsePart(part, bounds)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
    const { end, start, step } = parsed.success
    for (let value = start; value <= end; value += step) values.add(value)
    if (parsed.success.isStar) isStar = true
  }
  return Result.succeed({ values: [...values].sort((a, b) => a - b), isStar })
}

interface Part {
  readonly start: number
  readonly end: number
  readonly step: number
  readonly isStar: boolean
}

const parsePart = (part: string, bounds: Bounds): Result.Result<Part, string> =>
  Result.gen(function* () {
    const [range = "", stepText, ...more] = part.split("/")
    const [low = "", high, ...rest] = range.split("-")
    const isAll = low === "*" || low === "?"
    // A range without an end, such as `*` or `5/2`, ends with weekday 6: 7 is 0 again.
    const last = bounds === weekdays ? 6 : bounds.max
    const start = isAll ? bounds.min : yield* number(low, bounds)
    if (!isAll && rest.length > 0) return yield* Result.fail(`too many hyphens: ${part}`)
    if (more.length > 0) return yield* Result.fail(`too many slashes: ${part}`)
    const named = isAll ? last : high === undefined ? start : yield* number(high, bounds)
    const step = stepText === undefined ? 1 : yield* integer(stepText)
    const end = stepText !== undefined && high === undefined ? Math.max(last, start) : named
    if (start < bounds.min) {
      return yield* Result.fail(`beginning of range (${start}) below minimum (${bounds.min}): ${part}`)
    }
    if (end > bounds.max) return yield* Result.fail(`end of range (${end}) above maximum (${bounds.max}): ${part}`)
    if (start > end) return yield* Result.fail(`beginning of range (${start}) beyond end of range (${end}): ${part}`)
    if (step === 0) return yield* Result.fail(`step of range should be a positive number: ${part}`)
    return { start, end, step, isStar: isAll && step === 1 }
  })

const number = (text: string, { min, names }: Bounds): Result.Result<number, string> => {
  const place = names.indexOf(text.toLowerCase())
  return place >= 0 ? Result.succeed(min + place) : integer(text)
}

const integer = (text: string): Result.Result<number, string> => {
  const failed = (why: string) =>
    Result.fail(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`)
  if (!/^\+?\d+$/.test(text)) return failed("invalid syntax")
  return BigInt(text.replace("+", "")) > greatest ? failed("value out of range") : Result.succeed(Number(text))
}
