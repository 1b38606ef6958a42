/** Settings of the logs: level and format. The names are those of zap's flags. */
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Level from "../logs/level.ts"
import type { Options } from "../logs/Logs.ts"
import { timeEncodings } from "../logs/line.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Resolved } from "../setting/sources.ts"

/** A level name, or a positive number as in zap, where a greater one is more verbose. */
const level: Codecs.Codec<LogLevel.LogLevel> = {
  metavar: "level",
  expected: "one of all, trace, debug, info, warn, error, fatal or none, or a number above zero",
  decode: (text) => (/^0+$/.test(text) ? Option.none() : Level.parse(text))
}

const stacktraceLevels = { info: "Info", warn: "Warn", error: "Error", panic: "Fatal" } as const

export const settings = {
  devel: Setting.make(Codecs.boolean, {
    name: "zap-devel",
    group: "logs",
    description: "Development mode: the defaults become console, debug, stack traces from warn on, and no sampling",
    default: "false"
  }),
  encoder: Setting.make(Codecs.choice(["json", "console"]), {
    name: "zap-encoder",
    group: "logs",
    description: "Format of the log lines; on the embedded cluster, and with --zap-devel, the default is console",
    default: "json"
  }),
  logLevel: Setting.make(level, {
    name: "zap-log-level",
    aliases: ["log-level"],
    group: "logs",
    description:
      "The minimum level that is logged: all, trace, debug, info, warn, error, fatal (or panic) or none; or a number: from 1 debug, from 6 trace",
    default: "info"
  }),
  stacktraceLevel: Setting.make(Codecs.choice(["info", "warn", "error", "panic"]), {
    name: "zap-stacktrace-level",
    group: "logs",
    description: "The minimum level at which errors are logged with a stack trace",
    default: "error"
  }),
  timeEncoding: Setting.make(Codecs.choice(timeEncodings), {
    name: "zap-time-encoding",
    group: "logs",
    description: "Encoding of the time of a line; on the console the default has milliseconds",
    default: "rfc3339"
  }),
  verbosity: Setting.make(Codecs.integer({ min: 0, max: 999, expected: "a number from 0 to 999" }), {
    name: "v",
    group: "logs",
    description: "Verbosity as Kubernetes components count it: from 1 debug, from 6 trace",
    default: "0"
  })
}

/** A verbosity above zero takes precedence over the level. */
export const optionsOf = ({ origins, values }: Resolved<typeof settings>): Options => {
  const given = (name: keyof typeof settings) => origins[name]._tag !== "Default"
  const { devel } = values
  return {
    level: levelOf(values, given("logLevel")),
    form: given("encoder") ? values.encoder : devel ? "console" : undefined,
    isSampled: !devel,
    stacktraceLevel: devel && !given("stacktraceLevel") ? "Warn" : stacktraceLevels[values.stacktraceLevel],
    time: given("timeEncoding") ? values.timeEncoding : undefined
  }
}

const levelOf = (values: Setting.Values<typeof settings>, isGiven: boolean): LogLevel.LogLevel =>
  values.verbosity > 0 ? Level.ofVerbosity(values.verbosity) : values.devel && !isGiven ? "Debug" : values.logLevel
