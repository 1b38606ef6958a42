/**
 * The program's logs: which lines are said, in which form, to standard error. It reads the level and the form for each line, because
 * both may change after the start. Not for answers, which go to standard output.
 */
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import type { Host } from "../process/Host.ts"
import * as Form from "./form.ts"
import * as Level from "./level.ts"
import * as Line from "./line.ts"
import { Sampler } from "./sampler.ts"
import { Sink } from "./Sink.ts"

export interface Options extends Line.Style {
  readonly level: LogLevel.LogLevel
  /** Undefined: as suits the cluster. */
  readonly form: Form.Form | undefined
  /** Whether messages that repeat are thinned out. */
  readonly isSampled: boolean
}

/** Until it is known what the user wants. */
export const initial: Options = {
  level: "Info",
  form: "console",
  isSampled: false,
  stacktraceLevel: "Error",
  time: undefined
}

export const layer = (host: Host, options: Options) => {
  const level = new Level.MinimumLevel(options.level)
  const form = new Form.Choice(options.form)
  return Layer.mergeAll(
    Logger.layer([logger(host, options, level, form)]),
    Layer.succeed(Level.Current, level),
    Layer.succeed(Form.Current, form),
    // The logger decides, because the level may change while the program runs.
    Layer.succeed(References.MinimumLogLevel, "All")
  )
}

const logger = (host: Host, options: Options, level: Level.MinimumLevel, form: Form.Choice) => {
  const sampler = options.isSampled ? new Sampler() : undefined
  const sink = new Sink(host.stderr)
  const written = (said: Logger.Options<unknown>) =>
    form.current === "json" ? Line.json(options, said) : Line.console(options, said)
  return Logger.make((said) => {
    if (!level.admits(said.logLevel)) return
    if (sampler?.admits(said.logLevel, Line.messageOf(said), said.date.getTime()) === false) return
    sink.write(written(said), (lost) =>
      written({ ...said, logLevel: "Warn", message: `${lost} lines were lost, because nobody reads them fast enough` })
    )
  })
}
