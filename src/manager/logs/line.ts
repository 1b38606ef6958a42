/**
 * From what was logged to one line of text: JSON with the keys that operators of Go's controllers know (`level`, `ts`, `logger`,
 * `msg`, the values, `error`, `stacktrace`), or `key=value` on a console. Values keep their names and never replace those keys. A line
 * is bounded, secrets are taken out. Pure. Source: zap, component-base/logs.
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

/** How the time of a line is written: the encodings of zap's command line, by their names there. */
export const timeEncodings = ["epoch", "millis", "nanos", "iso8601", "rfc3339", "rfc3339nano"] as const

type TimeEncoding = (typeof timeEncodings)[number]

export interface Style {
  /** The least level at which the stack of an error is shown. */
  readonly stacktraceLevel: LogLevel.LogLevel
  /** Undefined: the default of the format, seconds in JSON and milliseconds on a console. */
  readonly time: TimeEncoding | undefined
}

type Said = Logger.Options<unknown>

/** Characters that the values of a line may have together; what is more is cut. */
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

/** Numbers are seconds, milliseconds and nanoseconds since 1970, texts are UTC. The clock of a line counts milliseconds. */
const encodeTime = (encoding: TimeEncoding, date: Date): number | string => {
  const millis = date.getTime()
  switch (encoding) {
    case "epoch":
      return millis / 1000
    case "millis":
      return millis
    case "nanos":
      // Its digits are more than a double holds exactly: the milliseconds are exact, and the rest would be zero.
      return millis * 1_000_000
    case "iso8601":
      return date.toISOString()
    case "rfc3339":
      return `${date.toISOString().slice(0, 19)}Z`
    case "rfc3339nano":
      // As Go writes it: no zeros at the end of the fraction, and no fraction of zero.
      return date.toISOString().replace(/\.?0{0,3}Z$/, "Z")
  }
}

/** A value of that name was there first. */
const freeName = (fields: Record<string, unknown>, key: string): string =>
  Object.hasOwn(fields, key) ? freeName(fields, `${key}_`) : key

/** Annotations, the object that is being reconciled, and for how long log spans have been open. */
const valuesOf = ({ date, fiber }: Said): ReadonlyArray<readonly [string, unknown]> => [
  ...Object.entries(fiber.getRef(References.CurrentLogAnnotations)),
  ...CurrentRun.facts(fiber.getRef(CurrentRun.CurrentRun)),
  ...fiber.getRef(References.CurrentLogSpans).map(([label, since]) => [label, `${date.getTime() - since}ms`] as const)
]

const failureOf = (least: LogLevel.LogLevel, { cause, logLevel }: Said): ReadonlyArray<readonly [string, unknown]> => {
  if (cause.reasons.length === 0) return []
  const error = Cause.squash(cause)
  const failure = Object.entries({ ...ApiError.facts(error), error })
  const isShown = LogLevel.isGreaterThanOrEqualTo(logLevel, least)
  return isShown ? [...failure, ["stacktrace", Cause.pretty(cause)]] : failure
}

/** Errors are their messages: what else hangs on them may be anything. */
const plain = (value: unknown): unknown =>
  typeof value === "string" ? clean(value) : value instanceof Error ? clean(value.message) : value

const text = (value: unknown): string =>
  typeof value === "string" ? value : value instanceof Error ? value.message : formatted(value)

/** JSON has no word for some values, such as functions. */
const formatted = (value: unknown): string => {
  const json: string | undefined = Formatter.formatJson(value)
  return json ?? String(value)
}

/** One word on one line, whatever is in it. */
const word = (text: string): string =>
  text === "" || /[\s="\\]/.test(text) || printable(text) !== text ? JSON.stringify(text) : text
