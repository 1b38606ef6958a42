/**
 * The minimum log level of the process, which can be changed while it runs. Loggers read it for each line. Effect's `MinimumLogLevel` is fixed in
 * the context of each fiber, so the program sets that to `All`. One object for each process: {@link Current}.
 */
import * as Context from "effect/Context"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const words = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  panic: "Fatal",
  none: "None"
} as const satisfies Record<string, LogLevel.LogLevel>

const isWord = (text: string): text is keyof typeof words => Object.hasOwn(words, text)

/** Completes "it must be …". */
export const expected = `one of ${Object.keys(words).join(", ")}, or a verbosity from 0 to 999`

/** A level name in any case, or a verbosity as klog counts it. */
export const parse = (text: string): Option.Option<LogLevel.LogLevel> => {
  const word = text.trim().toLowerCase()
  if (isWord(word)) return Option.some(words[word])
  return /^\d{1,3}$/.test(word) ? Option.some(ofVerbosity(Number(word))) : Option.none()
}

/** Verbosity 1 and more is Debug, 6 and more is Trace. Source: klog's conventions. */
export const ofVerbosity = (verbosity: number): LogLevel.LogLevel =>
  verbosity > 5 ? "Trace" : verbosity > 0 ? "Debug" : "Info"

export class MinimumLevel {
  private level: LogLevel.LogLevel

  constructor(level: LogLevel.LogLevel) {
    this.level = level
  }

  get current(): LogLevel.LogLevel {
    return this.level
  }

  /** Whether a line of this level is logged. */
  readonly admits = (level: LogLevel.LogLevel): boolean => LogLevel.isGreaterThanOrEqualTo(level, this.level)

  /** Sets the level for the next lines. Returns the level, or one sentence with the valid texts. */
  readonly set = (text: string): Result.Result<LogLevel.LogLevel, string> =>
    Option.match(parse(text), {
      onNone: () => Result.fail(`there is no log level "${text.slice(0, 40)}": it must be ${expected}`),
      onSome: (level) => Result.succeed((this.level = level))
    })
}

/** The level of this process. The default object is not read by any logger. */
export const Current = Context.Reference<MinimumLevel>("effect-controller-manager/LogLevel", {
  defaultValue: () => new MinimumLevel("Info")
})
