/** How much the program says. */
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

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

/** A word, or a number as zap has it: more than zero, and the greater the more. */
const level: Setting.Codec<LogLevel.LogLevel> = {
  metavar: "level",
  expected: `one of ${Object.keys(words).join(", ")}, or a number above zero`,
  decode: (text) =>
    isWord(text)
      ? Option.some(words[text])
      : /^[1-9]\d{0,2}$/.test(text)
        ? Option.some(ofVerbosity(Number(text)))
        : Option.none()
}

/** Kubernetes' own programs debug from 1 on, and trace requests from 6 on. Source: klog's conventions. */
const ofVerbosity = (verbosity: number): LogLevel.LogLevel =>
  verbosity > 5 ? "Trace" : verbosity > 0 ? "Debug" : "Info"

export const settings = {
  logLevel: Setting.make(level, {
    name: "log-level",
    aliases: ["zap-log-level"],
    group: "logs",
    description: "The least level that is logged: all, trace, debug, info, warn, error, fatal or none",
    default: "info"
  }),
  verbosity: Setting.make(Codecs.integer({ min: 0, max: 999, expected: "a number from 0 to 999" }), {
    name: "v",
    group: "logs",
    description: "Verbosity as Kubernetes' own programs count it: from 1 debug, from 6 trace",
    default: "0"
  })
}

/** A verbosity above zero is a wish of its own, and stands. */
export const levelOf = (values: Setting.Values<typeof settings>): LogLevel.LogLevel =>
  values.verbosity > 0 ? ofVerbosity(values.verbosity) : values.logLevel
