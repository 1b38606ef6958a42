/**
 * Formats a log entry as one line: JSON with the keys of Go's controllers (`level`, `ts`, `logger`, `msg`, the values, `error`, `stacktrace`), or
 * `key=value` on a console. Values keep their names and never replace those keys. A line is limited in length, and secrets are redacted. Pure.
 * Source: zap, component-base/logs.
 */
import * as Cause from "effect/Cause"
import * as Formatter from "effect/Formatter"
import type * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as ApiError from "../../kube/ApiError.ts"
import { printable } from "../../kube/printable.ts"
import * as CurrentRun from "../../layers/controller/currentRun.ts"
import { clean, redact } from "./secrets.ts"

/** Encodings of the time, under the names of zap's command line. */
export const timeEncodings = ["epoch", "millis", "nanos", "iso8601", "rfc3339", "rfc3339nano"] as const

type TimeEncoding = (typeof timeEncodings)[number]

export interface Style {
  /** The least level at which the stack of an error is shown. */
  readonly stacktraceLevel: LogLevel.LogLevel
  /** Undefined: the default of the format, seconds in JSON and milliseconds on a console. */
  readonly time: TimeEncoding | undefined
}

type Said = Logger.Options<unknown>

/** The most characters of all values of a line; the rest is cut. */
const longestLine = 64 * 1024

/** The constant message; what varies is in the values. */
export const messageOf = ({ message }: Said): string =>
  (Array.isArray(message) ? message : [message]).map(text).join(" ")

export const json = ({ stacktraceLevel, time = "rfc3339" }: Style, said: Said): string => {
  const fields: Record<string, unknown> = {
    level: said.logLevel.toLowerCase(),
    ts: encodeTime(time, said.date),
    logger: "manager",
    msg: clean(messageOf(said))
  }
  const values = [...valuesOf(said), ...failureOf(stacktraceLevel, said)]
  for (const [key, value] of values) fields[key === "logger" ? key : freeName(fields, key)] = plain(value)
  const line = Formatter.formatJson(fields)
  if (line.length <= longestLine) return redact(line)
  const { level, logger, msg, ts } = fields
  return JSON.stringify({ level, ts, logger, msg, truncated: line.length })
}

export const console = ({ stacktraceLevel, time = "iso8601" }: Style, said: Said): string => {
  const { date, fiber, logLevel } = said
  let line = `timestamp=${encodeTime(time, date)} level=${logLevel.toUpperCase()} fiber=#${fiber.id}`
  line += ` message=${word(clean(messageOf(said)))}`
  for (const [key, value] of [...valuesOf(said), ...failureOf(stacktraceLevel, said)]) {
    line += ` ${key.replaceAll(/[\s="]/g, "_")}=${word(clean(text(value)))}`
  }
  return line.length <= longestLine ? line : `${line.slice(0, longestLine)}…`
}

/** Numbers count seconds, milliseconds or nanoseconds since 1970; texts are in UTC. The clock has a resolution of milliseconds. */
const encodeTime = (encoding: TimeEncoding, date: Date): number | string => {
  const millis = date.getTime()
  switch (encoding) {
    case "epoch":
      return millis / 1000
    case "millis":
      return millis
    case "nanos":
      // The result exceeds the exact integers of a double, but a multiple of a million prints exactly as milliseconds followed by zeros.
      return millis * 1_000_000
    case "iso8601":
      return date.toISOString()
    case "rfc3339":
      return `${date.toISOString().slice(0, 19)}Z`
    case "rfc3339nano":
      // As in Go: no trailing zeros in the fraction, and no fraction of zero.
      return date.toISOString().replace(/\.?0{0,3}Z$/, "Z")
  }
}

/** Adds an underscore while a value of that name exists. */
const freeName = (fields: Record<string, unknown>, key: string): string =>
  Object.hasOwn(fields, key) ? freeName(fields, `${key}_`) : key

/** Log annotations, the reconciled object, and the durations of open log spans. */
const valuesOf = ({ date, fiber, logLevel }: Said): ReadonlyArray<readonly [string, unknown]> => [
  ...Object.entries(fiber.getRef(References.CurrentLogAnnotations)),
  ...CurrentRun.facts(fiber.getRef(CurrentRun.CurrentRun), LogLevel.isLessThan(logLevel, "Info")),
  ...fiber.getRef(References.CurrentLogSpans).map(([label, since]) => [label, `${date.getTime() - since}ms`] as const)
]

const failureOf = (least: LogLevel.LogLevel, { cause, logLevel }: Said): ReadonlyArray<readonly [string, unknown]> => {
  if (cause.reasons.length === 0) return []
  const error = Cause.squash(cause)
  const failure = Object.entries({ ...ApiError.facts(error), error })
  const isShown = LogLevel.isGreaterThanOrEqualTo(logLevel, least)
  return isShown ? [...failure, ["stacktrace", Cause.pretty(cause)]] : failure
}

/** Of an error only the message is logged: its other fields may be anything. */
const plain = (value: unknown): unknown =>
  typeof value === "string" ? clean(value) : value instanceof Error ? clean(wordsOf(value)) : value

const text = (value: unknown): string =>
  typeof value === "string" ? value : value instanceof Error ? wordsOf(value) : formatted(value)

/** How many errors are looked at to find a message: each may be the cause of the one before. */
const deepest = 5

/** An error that only wraps another one has no message of its own. */
const wordsOf = (error: Error): string => {
  let one: unknown = error
  for (let depth = 0; depth < deepest && one instanceof Error; depth++) {
    if (one.message !== "") return one.message
    one = one.cause
  }
  return error.name
}

/** Some values, such as functions, have no JSON. */
const formatted = (value: unknown): string => {
  const json: string | undefined = Formatter.formatJson(value)
  return json ?? String(value)
}

/** Quotes a text that is not a single word. */
const word = (text: string): string =>
  text === "" || /[\s="\\]/.test(text) || printable(text) !== text ? JSON.stringify(text) : text
