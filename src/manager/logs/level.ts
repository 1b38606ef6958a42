/**
 * The least level that the process logs, which can be changed while it runs. Loggers read it for each line; Effect's own
 * minimum is a value of each fiber's context and cannot be changed from outside, so the program lets everything through that one.
 * One object for each process, found by {@link Current}.
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

/** A word in any case, or a verbosity as Kubernetes' own programs count it. */
export const parse = (text: string): Option.Option<LogLevel.LogLevel> => {
  const word = text.trim().toLowerCase()
  if (isWord(word)) return Option.some(words[word])
  return /^\d{1,3}$/.test(word) ? Option.some(ofVerbosity(Number(word))) : Option.none()
}

/** Kubernetes' own programs debug from 1 on, and trace requests from 6 on. Source: klog's conventions. */
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

  /** From the next line on. Returns the level, or one sentence with the valid texts. */
  readonly set = (text: string): Result.Result<LogLevel.LogLevel, string> =>
    Option.match(parse(text), {
      onNone: () => Result.fail(`there is no log level "${text.slice(0, 40)}": it must be ${expected}`),
      onSome: (level) => Result.succeed((this.level = level))
    })
}

/** The level of this process. Without a provided one, a change has no effect. */
export const Current = Context.Reference<MinimumLevel>("effect-controller-manager/LogLevel", {
  defaultValue: () => new MinimumLevel("Info")
})
