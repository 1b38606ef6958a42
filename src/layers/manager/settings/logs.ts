/** How much the program says. */
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Level from "../logs/level.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

/** A word, or a number as zap has it: more than zero, and the greater the more. */
const level: Setting.Codec<LogLevel.LogLevel> = {
  metavar: "level",
  expected: "one of all, trace, debug, info, warn, error, fatal or none, or a number above zero",
  decode: (text) => (/^0+$/.test(text) ? Option.none() : Level.parse(text))
}

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
  values.verbosity > 0 ? Level.ofVerbosity(values.verbosity) : values.logLevel
